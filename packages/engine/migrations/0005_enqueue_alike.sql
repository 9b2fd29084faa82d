-- The usual ways of putting jobs in, for less: a bulk that differs in payloads only, and a lone job with nothing special about it.

-- Many jobs of one kind that differ in their payload only, in their order, if all goes well: it hopes that no key is taken, because "on conflict" would look into the index
-- twice for each row. Where they are a group of callers they share one entry in the queue, a parcel (0022). It does not sort by key either, as everybody does who waits for keys while holding some: it soon gives up and lets go of all of them. Not at once, for others
-- who insert just now are waited for as well; it fails then (55P03). Answers nothing when a key is taken, the kind is unknown or has other rules.
create function sluice.try_alike(in_kind text, payloads jsonb, wake boolean, in_trace text) returns bigint[]
language plpgsql
  set plan_cache_mode = force_generic_plan set lock_timeout = '100ms'
as $$
#variable_conflict use_column
declare
  at timestamptz := sluice.now();
  jobs integer := jsonb_array_length(payloads);
  ids bigint[];
  k record;
begin
  select kind.pool, kind.cost, kind.priority, kind.dedupe, kind.max_attempts, s.payload_bytes_max * 6 as bytes_max,      -- as in enqueue_many
         sluice.rank(at, kind.priority, s.priority_step_ms) as rank, p.name is not null as paused,
         -- It costs as much as a dozen entries, and claims pay what it saves: it is for callers who wait one by one, and no group of those is larger.
         case when p.name is null and jobs between 16 and 500 then nextval('sluice.parcel_id_seq') end as parcel
  into k
  from sluice.kind
  cross join sluice.setting s
  left join sluice.pause p on p.scope = 'kind' and p.name = in_kind
  where kind.name = in_kind and kind.unique_for is null and kind.lane is null and kind.asks = '{}' and coalesce(kind.dedupe, 'keep') = 'keep';
  if not found then return null; end if;
  -- The planner is not held by the hand: nothing here reads a table that grows.
  with fresh as (
    insert into sluice.job as j (kind, pool, cost, shelf, priority, rank, payload, key, max_attempts, created_at, trace, parcel)
    select in_kind, k.pool, k.cost, case when k.paused then 'paused'::sluice.job_state end, k.priority, k.rank, x.payload,
           case when k.dedupe is not null then sluice.dedupe_key(in_kind, null, null, x.body) end, k.max_attempts, at, in_trace, k.parcel
    from (select e.value as payload, case when k.dedupe is not null then e.value::text end as body      -- made once, and only where it is needed
          from jsonb_array_elements(payloads) as e offset 0) x
    where pg_column_size(x.payload) <= k.bytes_max
    returning j.id)
  select array_agg(id) into ids from fresh;
  if coalesce(cardinality(ids), 0) < jobs then raise unique_violation; end if;      -- one is too large: none is stored, and the long way says which
  if k.parcel is not null then
    insert into sluice.parcel (id, pool, kind, rank, first, next, last) values (k.parcel, k.pool, in_kind, k.rank, ids[1], ids[1], ids[jobs]);
  end if;
  if wake then perform pg_notify('sluice', 'ready:' || k.pool); end if;      -- for jobs that are paused it wakes in vain
  return ids;
exception when unique_violation or deadlock_detected then
  return null;
end $$;

-- For what has company: whoever has to wait for a key in somebody's hand for longer than that fails (55P03) instead of keeping others waiting. Only for calls that are a
-- transaction by themselves: the limit holds until its end.
create function sluice.enqueue_within(jobs jsonb, wake boolean, wait_ms integer, out ids bigint[], out existing integer[])
language plpgsql
as $$
begin
  perform set_config('lock_timeout', wait_ms::text, true);
  select m.ids, m.existing into ids, existing from sluice.enqueue_many(jobs, wake) m;
end $$;

-- A group that was refused, one by one. Who would have to wait gets 0 instead of an id, and with whom something else is wrong, -1: these are tried again by themselves.
create function sluice.enqueue_each(jobs jsonb, wake boolean, out ids bigint[], out existing integer[])
language plpgsql
  set lock_timeout = '1ms'
as $$
declare
  one record;
  made record;
begin
  for one in select j.value, j.ordinality::integer as place from jsonb_array_elements(jobs) with ordinality as j loop
    begin
      select m.ids[1] as id, m.existing is not null as existed into made from sluice.enqueue_many(jsonb_build_array(one.value), wake) m;
      ids[one.place] := made.id;
      if made.existed then existing := existing || one.place; end if;
    exception
      when lock_not_available then
        ids[one.place] := 0;
      when others then
        ids[one.place] := -1;
    end;
  end loop;
end $$;

-- The usual bulk, for half of the cost; or else the long way, which also says what is wrong. One statement for both, because a caller who does not wait for it may have sent its
-- rollback behind it. With `wait_ms` as in enqueue_within.
create function sluice.enqueue_alike(in_kind text, payloads jsonb, wake boolean, in_trace text default null, wait_ms integer default null, out ids bigint[], out existing integer[])
language plpgsql
as $$
begin
  if wait_ms is not null then perform set_config('lock_timeout', wait_ms::text, true); end if;
  begin
    ids := sluice.try_alike(in_kind, payloads, wake, in_trace);
  exception when lock_not_available then
    null;      -- the long way waits in order
  end;
  if ids is not null then return; end if;
  select m.ids, m.existing into ids, existing
  from sluice.enqueue_many((select jsonb_agg(jsonb_build_object('kind', in_kind, 'payload', p.value, 'trace', in_trace) order by p.ordinality)
                            from jsonb_array_elements(payloads) with ordinality as p), wake) m;
end $$;

-- One job with nothing special about it, in as few steps as possible: this is what a caller waits for. Answers nothing when the key is taken, the kind is unknown or has other rules;
-- then the job takes the long way. With `hand_over` an idle process is looked for first. It waits for a key as briefly as try_alike does.
create function sluice.enqueue_lone(in_kind text, in_payload jsonb, wake boolean, in_trace text default null, hand_over boolean default false, out id bigint, out handed_over boolean)
language plpgsql
  set lock_timeout = '100ms' set plan_cache_mode = force_generic_plan      -- planning anew would take longer than the rest
as $$
#variable_conflict use_column
declare
  at timestamptz := sluice.now();
  made record;
begin
  if hand_over then
    id := sluice.enqueue_handed(in_kind, in_payload, in_trace);
    handed_over := id is not null;
    if handed_over then return; end if;
  end if;
  insert into sluice.job as j (kind, pool, cost, shelf, priority, rank, payload, key, max_attempts, created_at, trace)
  select in_kind, k.pool, k.cost, b.shelf, k.priority, sluice.rank(at, k.priority, s.priority_step_ms), in_payload,
         case when k.dedupe is not null then sluice.dedupe_key(in_kind, null, null, b.body) end,
         k.max_attempts, at, in_trace
  from sluice.kind k, sluice.setting s, lateral (
    select case when k.dedupe is not null then in_payload::text end as body,
           case when exists (select from sluice.pause p where p.scope = 'kind' and p.name = in_kind) then 'paused'::sluice.job_state end as shelf offset 0) b
  where k.name = in_kind and k.unique_for is null and k.lane is null and k.asks = '{}' and coalesce(k.dedupe, 'keep') = 'keep'
  on conflict (key) where key is not null and shelf is distinct from 'failed' do nothing
  returning j.id, j.pool, j.shelf into made;
  if wake and made.id is not null and made.shelf is null then perform pg_notify('sluice', 'ready:' || made.pool); end if;
  id := made.id;
end $$;
