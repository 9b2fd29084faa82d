-- The usual ways of putting jobs in, for less: a bulk that differs in payloads only, and a lone job with nothing special about it.

-- Many jobs of one kind that differ in their payload only: the usual bulk, for half of the cost. It hopes that no key is taken: "on conflict"
-- would look into the index twice for each row. If one is, or if the kind has other rules, the jobs take the long way.
create function sluice.enqueue_alike(in_kind text, payloads jsonb, wake boolean, in_trace text default null, out ids bigint[], out existing integer[])
language plpgsql
  set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  at timestamptz := sluice.now();
  k record;
begin
  -- The planner is not held by the hand here: nothing below reads a table that grows.
  select kind.*, s.payload_bytes_max * 6 as bytes_max, s.payload_bytes_max, sluice.rank(at, kind.priority, s.priority_step_ms) as rank,
         case when exists (select from sluice.pause p where p.scope = 'kind' and p.name = in_kind) then 'paused'::sluice.job_state end as shelf
  into k
  from sluice.kind, sluice.setting s
  where kind.name = in_kind;
  if not found then perform sluice.refuse_kind(in_kind); end if;
  if k.unique_for is null and k.lane is null and k.asks = '{}' and coalesce(k.dedupe, 'keep') = 'keep' then
    begin
      with fresh as (
        insert into sluice.job (id, kind, pool, cost, state, shelf, priority, rank, payload, key, max_attempts, created_at, trace)
        select x.id, in_kind, k.pool, k.cost, coalesce(k.shelf, 'ready'), k.shelf, k.priority, k.rank, x.payload, x.full_key,
               k.max_attempts, at, in_trace
        from (select nextval('sluice.job_id_seq') as id, p.payload,      -- ids in the order of the payloads
                     case when k.dedupe is not null then sluice.dedupe_key(in_kind, null, null, p.body) end as full_key,
                     case when pg_column_size(p.payload) > k.bytes_max
                          then sluice.refuse('SL003', format('payload of a %s job is over the limit of %s bytes', in_kind, k.payload_bytes_max),
                                             'Store the data elsewhere and enqueue a reference to it.') end as refused
              from (select e.value as payload, case when k.dedupe is not null then e.value::text end as body      -- made once, and only where it is needed
                    from jsonb_array_elements(payloads) as e offset 0) p) x
        where x.refused is null
        order by x.full_key      -- two statements that share keys must meet them in the same order
        returning id)
      select array_agg(id order by id) into ids from fresh;
      if wake and k.shelf is null then perform pg_notify('sluice', 'ready:' || k.pool); end if;
      return;
    exception when unique_violation then
      null;      -- the long way finds out which
    end;
  end if;
  select m.ids, m.existing into ids, existing
  from sluice.enqueue_many((select jsonb_agg(jsonb_build_object('kind', in_kind, 'payload', p.value, 'trace', in_trace) order by p.ordinality)
                            from jsonb_array_elements(payloads) with ordinality as p), wake) m;
end $$;

-- One job with nothing special about it, in as few steps as possible: this is what a caller waits for. Answers nothing when the key is taken, the
-- kind is unknown or has other rules; then the job takes the long way.
create function sluice.enqueue_lone(in_kind text, in_payload jsonb, wake boolean, in_trace text default null) returns bigint
language plpgsql
  set plan_cache_mode = force_generic_plan      -- planning anew would take longer than the rest
as $$
#variable_conflict use_column
declare
  at timestamptz := sluice.now();
  made record;
begin
  insert into sluice.job as j (kind, pool, cost, state, shelf, priority, rank, payload, key, max_attempts, created_at, trace)
  select in_kind, k.pool, k.cost, coalesce(b.shelf, 'ready'), b.shelf, k.priority, sluice.rank(at, k.priority, s.priority_step_ms), in_payload,
         case when k.dedupe is not null then sluice.dedupe_key(in_kind, null, null, b.body) end,
         k.max_attempts, at, in_trace
  from sluice.kind k, sluice.setting s, lateral (
    select case when k.dedupe is not null then in_payload::text end as body,
           case when exists (select from sluice.pause p where p.scope = 'kind' and p.name = in_kind) then 'paused'::sluice.job_state end as shelf offset 0) b
  where k.name = in_kind and k.unique_for is null and k.lane is null and k.asks = '{}' and coalesce(k.dedupe, 'keep') = 'keep'
  on conflict (key) where key is not null and shelf is distinct from 'failed' do nothing
  returning j.id, j.pool, j.state into made;
  if wake and made.state = 'ready' then perform pg_notify('sluice', 'ready:' || made.pool); end if;
  return made.id;
end $$;
