-- Putting jobs in: one by one from any language, many at once from the TypeScript client. Both join the caller's transaction.

-- Smaller rank goes first. A job can be overtaken only by jobs that became ready less than (difference of priority x step) after it.
create function sluice.rank(ready_at timestamptz, priority integer, step_ms integer) returns bigint
language sql stable
as $$ select (date_part('epoch', ready_at) * 1000)::bigint - priority::bigint * step_ms $$;

-- Keys are told apart by kind, so that two kinds that use the same key never swallow each other's jobs. Without a key of the caller's it is made of owner and
-- payload; jsonb's text form (`body`) is canonical, so every client and language gets the same one. What is short stands for itself: a hash would be as long, and
-- takes a fifth of the time of an enqueue.
create function sluice.dedupe_key(kind text, key text, owner text, body text) returns text
language sql stable
as $$ select kind || case when key is not null then '/' || key
             when owner is null and octet_length(body) <= 64 then '=' || body
             else '#' || substr(encode(sha256(convert_to(coalesce(owner, '') || E'\n' || body, 'UTF8')), 'hex'), 1, 32) end $$;

-- Wakes workers of a pool, and the leader when something falls due. A hint: losing it delays until the next heartbeat.
-- Topics are 'ready:POOL' for the open lane and 'turn:POOL' for the others; see line_up.
create function sluice.wake(topics text[], due_at timestamptz) returns void
language plpgsql
as $$
begin
  perform pg_notify('sluice', topic) from unnest(topics) as topic group by topic;
  if due_at < 'infinity' then
    perform pg_notify('sluice', 'due:' || (extract(epoch from due_at) * 1000)::bigint);
  end if;
end $$;

-- Which lane a job goes to: the one it names, that of its kind, its owner's own if that has limits, or the open one.
create function sluice.lane_of(wanted text, of_kind text, owner text) returns text
language plpgsql stable
as $$
begin
  if wanted is not null then return wanted; end if;
  if of_kind is not null then return replace(of_kind, '{owner}', coalesce(owner, '')); end if;
  if owner is not null and exists (select from sluice.owner o where o.name = owner) then return 'owner:' || owner; end if;
  return '';
end $$;

-- Inserts one job or finds the one that stands for it. Never locks a running job's row: a stranger's open transaction would hold up its settle.
create function sluice.enqueue_one(
  kind text, payload jsonb, pool text, owner text, priority integer, max_attempts integer, run_at timestamptz,
  key text, mode text, unique_for interval, debounce_max interval, parent bigint, root bigint, lane text, cost integer, run bigint, event bigint,
  trace text, out id bigint, out created boolean, out shelf sluice.job_state, out topics text[], out due_at timestamptz)
language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
#variable_conflict use_column
declare
  at timestamptz := sluice.now();
  full_key text := case when enqueue_one.mode is not null
                        then sluice.dedupe_key(enqueue_one.kind, enqueue_one.key, enqueue_one.owner, enqueue_one.payload::text) end;
  rule sluice.key_rule := case enqueue_one.mode when 'keep' then 'end' when 'again' then 'again' else 'start' end;
  step integer := (select priority_step_ms from sluice.setting);
  paused boolean := exists (select from sluice.pause p where p.scope = 'kind' and p.name = enqueue_one.kind);
  due timestamptz := greatest(enqueue_one.run_at, at);      -- what is due already becomes ready now
  waits text;
  first_shelf sluice.job_state;
  win record;
  put record;
  own bigint;
begin
  created := false;
  if enqueue_one.mode = 'once' then
    if enqueue_one.unique_for is not null then perform sluice.refuse('SL002', 'a job that is wanted once in a run has no window of time: leave out uniqueFor', 'A run is the window.'); end if;
    if enqueue_one.run is null then perform sluice.refuse('SL002', 'a job that is wanted once in a run must belong to one', 'Enqueue it as `next` of a job of the run.'); end if;
    insert into sluice.run_key (run, key, job) values (enqueue_one.run, full_key, nextval('sluice.job_id_seq')) on conflict do nothing returning job into own;
    if not found then
      select r.job into enqueue_one.id from sluice.run_key r where r.run = enqueue_one.run and r.key = full_key;
      return;
    end if;
    full_key := null;
  end if;
  if enqueue_one.unique_for is not null then
    -- In one statement: between a look and a lock the row may be pruned, and then nothing would hold the window.
    insert into sluice.key_window as w (key, until) values (full_key, '-infinity')
    on conflict (key) do update set key = excluded.key
    returning w.until, w.job into win;
    if win.until > sluice.now() then
      enqueue_one.id := win.job;
      return;
    end if;
  end if;
  for round in 1..20 loop
    if enqueue_one.mode in ('replace', 'debounce') then
      -- What a debounce waits for is longer than a pause of its kind: whoever promotes it looks for that. The lane goes with the payload, for the call is another.
      update sluice.job j
      set payload = enqueue_one.payload,
          lane = enqueue_one.lane,
          cost = enqueue_one.cost,
          owner = enqueue_one.owner,
          parcel = null,
          shelf = case when enqueue_one.mode = 'replace' then j.shelf
                       when least(due, j.created_at + enqueue_one.debounce_max) > at then 'scheduled'::sluice.job_state
                       when j.shelf = 'paused' then j.shelf end,
          run_at = case when enqueue_one.mode = 'replace' then j.run_at
                        when least(due, j.created_at + enqueue_one.debounce_max) > at then least(due, j.created_at + enqueue_one.debounce_max) end,
          rank = case when enqueue_one.mode = 'replace' then j.rank
                      else sluice.rank(least(due, j.created_at + enqueue_one.debounce_max), j.priority, step) end
      where j.key = full_key and j.shelf is distinct from 'failed' and j.worker is null
      returning j.id, j.shelf, j.pool, j.lane, j.rank, j.run_at into put;
      if found then
        enqueue_one.id := put.id;
        enqueue_one.shelf := put.shelf;
        due_at := put.run_at;
        if put.shelf is null then topics := sluice.line_up(array[row(put.pool, put.lane, put.rank)::sluice.ready_job]); end if;
        return;
      end if;
    end if;
    first_shelf := case when waits is not null or enqueue_one.run_at > at then 'scheduled' when paused then 'paused' end;
    insert into sluice.job as j (id, kind, pool, lane, cost, owner, shelf, priority, rank, payload, key, key_rule, after_key, parent, root, run, event, max_attempts,
                               run_at, created_at, trace)
    values (coalesce(own, nextval('sluice.job_id_seq')), enqueue_one.kind, enqueue_one.pool, enqueue_one.lane, enqueue_one.cost, enqueue_one.owner,
            first_shelf, enqueue_one.priority, sluice.rank(due, enqueue_one.priority, step), enqueue_one.payload,
            case when waits is null then full_key end, rule, waits,
            enqueue_one.parent, enqueue_one.root, enqueue_one.run, enqueue_one.event, enqueue_one.max_attempts,
            case when waits is not null then 'infinity' when enqueue_one.run_at > at then enqueue_one.run_at end, at, enqueue_one.trace)
    on conflict do nothing
    returning j.id, j.shelf, j.rank, j.run_at into put;
    if found then
      enqueue_one.id := put.id;
      enqueue_one.shelf := put.shelf;
      due_at := put.run_at;
      created := true;
      if put.shelf is null then topics := sluice.line_up(array[row(enqueue_one.pool, enqueue_one.lane, put.rank)::sluice.ready_job]); end if;
      if enqueue_one.unique_for is not null then
        update sluice.key_window w set until = sluice.now() + enqueue_one.unique_for, job = enqueue_one.id where w.key = full_key;
      end if;
      return;
    end if;
    -- A new statement has a younger snapshot: now the holder of the key is visible, unless it has just ended; then go round.
    if waits is not null then
      if enqueue_one.mode = 'again' then
        select j.id into enqueue_one.id from sluice.job j where j.after_key = waits;
      else      -- whoever follows has the last payload
        update sluice.job j set payload = enqueue_one.payload where j.after_key = waits returning j.id into enqueue_one.id;
      end if;
      if found then return; end if;
    end if;
    waits := null;
    select j.id, j.worker, j.key_rule into win from sluice.job j where j.key = full_key and j.shelf is distinct from 'failed';
    if found then
      -- A job of this mode lets its key go when it starts; one that runs and has it was made in another mode, and is over before the next.
      if enqueue_one.mode <> 'keep' and win.worker is not null then
        waits := full_key;
      elsif enqueue_one.mode not in ('replace', 'debounce') then
        enqueue_one.id := win.id;
        return;
      end if;
    end if;
  end loop;
  raise exception using errcode = '40001', message = format('the dedupe key %s keeps changing hands', full_key), hint = 'Try again.';
end $$;

-- The door for plain SQL. Arguments left out come from the kind.
create function sluice.enqueue(
  kind text, payload jsonb default '{}', run_at timestamptz default null, delay interval default null, priority integer default null,
  key text default null, mode text default null, unique_for interval default null, debounce_max interval default null,
  pool text default null, owner text default null, max_attempts integer default null, wake boolean default true, lane text default null,
  cost integer default null, trace text default null, out id bigint, out created boolean)
language plpgsql
as $$
#variable_conflict use_column
declare
  k sluice.kind;
  s sluice.setting;
  made record;
  due timestamptz;
  to_lane text;
begin
  select * into k from sluice.kind where name = enqueue.kind;
  if not found then perform sluice.refuse_kind(enqueue.kind); end if;
  select * into s from sluice.setting;
  if octet_length(enqueue.payload::text) > s.payload_bytes_max then
    perform sluice.refuse('SL003', format('payload of %s bytes is over the limit of %s', octet_length(enqueue.payload::text), s.payload_bytes_max),
                          'Store the data elsewhere and enqueue a reference to it.');
  end if;
  if enqueue.mode not in ('none', 'keep', 'replace', 'debounce', 'again') then
    perform sluice.refuse('SL002', format('unknown dedupe mode "%s"', enqueue.mode), 'Use none, keep, replace, debounce or again.');
  end if;
  if length(enqueue.key) not between 1 and 512 then
    perform sluice.refuse('SL002', 'a dedupe key must have 1 to 512 characters', 'Hash longer keys.');
  end if;
  if enqueue.priority not between -1000 and 1000 then
    perform sluice.refuse('SL002', 'priority must be between -1000 and 1000', 'Higher goes first; age catches up.');
  end if;
  if least(length(enqueue.pool), length(enqueue.owner), length(enqueue.lane)) < 1 or greatest(length(enqueue.pool), length(enqueue.owner), length(enqueue.lane)) > 200 then
    perform sluice.refuse('SL002', 'pool, owner and lane must have 1 to 200 characters', 'Leave out what you do not want to give.');
  end if;
  if enqueue.delay not between interval '0' and interval '1000 years' or enqueue.run_at not between timestamptz 'epoch' and timestamptz '9999-12-31 00:00Z' then
    perform sluice.refuse('SL002', 'run_at must lie between 1970 and 9999, a delay between nothing and 1,000 years', 'Leave both out for a job that is ready at once.');
  end if;
  if enqueue.max_attempts not between 1 and 1000 then
    perform sluice.refuse('SL002', 'max_attempts must be between 1 and 1000', 'Leave it out to take it from the kind.');
  end if;
  perform sluice.refuse_trace(enqueue.trace);
  if enqueue.run_at is not null and enqueue.delay is not null then
    perform sluice.refuse('SL002', 'run_at and delay contradict each other', 'Give one of them.');
  end if;
  if k.asks <> '{}' then
    perform sluice.refuse_unasked(enqueue.kind, k.asks, false, enqueue.mode, enqueue.key, enqueue.lane, enqueue.cost, null);
  end if;
  to_lane := sluice.lane_of(enqueue.lane, k.lane, enqueue.owner);
  due := coalesce(enqueue.run_at, sluice.now() + enqueue.delay);
  perform sluice.refuse_cost(to_lane, coalesce(enqueue.cost, k.cost));
  select * into made from sluice.enqueue_one(
    enqueue.kind, coalesce(enqueue.payload, '{}'), coalesce(enqueue.pool, k.pool), enqueue.owner, coalesce(enqueue.priority, k.priority),
    coalesce(enqueue.max_attempts, k.max_attempts), due, enqueue.key,
    nullif(coalesce(enqueue.mode, k.dedupe, case when enqueue.key is not null or coalesce(enqueue.unique_for, k.unique_for) is not null then 'keep' end), 'none'),
    case when enqueue.mode = 'none' then null else coalesce(enqueue.unique_for, k.unique_for) end, enqueue.debounce_max, null, null,
    to_lane, coalesce(enqueue.cost, k.cost), null, null, enqueue.trace);
  id := made.id;
  created := made.created;
  -- A job that was found and changed was locked meanwhile: a claim may have skipped it.
  if wake then
    perform sluice.wake(made.topics, made.due_at);
  end if;
end $$;

-- Many jobs in one statement. Rows that hit a key, or whose mode is not plain, go through enqueue_one afterwards, in key order.
-- Answers the id of each row, and the places (from 1) of rows for which a job was already there. Fields of a row: kind, payload, and where they differ from the kind: pool, owner, priority, max_attempts, delay_ms, run_at, key, mode,
-- unique_ms, debounce_max_ms, parent, root, lane, cost, run, event, trace, asked.
create function sluice.enqueue_many(jobs jsonb, wake boolean, out ids bigint[], out existing integer[])
language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off set jit = off set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  at timestamptz := sluice.now();
  at_ms bigint := date_part('epoch', at) * 1000;
  step_ms bigint := (select priority_step_ms from sluice.setting);
  s sluice.setting;
  paused_kinds text[] := array(select name from sluice.pause where scope = 'kind');
  ready sluice.ready_job[];
  topics text[];
  due timestamptz;
  rest json;
  r record;
  made record;
begin
  select * into s from sluice.setting;
  with input as materialized (
    select x.id, x.ordinality, x.kind, x.payload, x.owner, x.key, x.debounce_max_ms, x.parent, x.root, x.run, x.event, x.trace, d.mode, d.unique_for, d.due_at, d.lane, d.cost,
           coalesce(x.pool, k.pool) as pool,
           coalesce(x.priority, k.priority) as priority,
           coalesce(x.max_attempts, k.max_attempts) as max_attempts,
           case when d.mode is not null then sluice.dedupe_key(x.kind, x.key, x.owner, x.payload::text) end as full_key,
           case when d.due_at > at then 'scheduled' when x.kind = any(paused_kinds) then 'paused' end::sluice.job_state as shelf,
           case when k.name is null then sluice.refuse_kind(x.kind)
                when k.asks <> '{}' and sluice.refuse_unasked(x.kind, k.asks, x.asked, x.mode, x.key, x.lane, x.cost, x.run) is not null then null      -- it raises, or we go on
                when pg_column_size(x.payload) > s.payload_bytes_max * 6      -- the client counted bytes of JSON; jsonb takes up to six times as many
                then sluice.refuse('SL003', format('payload of a %s job is over the limit of %s bytes', x.kind, s.payload_bytes_max),
                                   'Store the data elsewhere and enqueue a reference to it.')
                when d.lane <> '' then sluice.refuse_cost(d.lane, d.cost) end as refused
    from (select nextval('sluice.job_id_seq') as id, y.*      -- ids in the order of the rows, before the join can shuffle them
          from rows from (jsonb_to_recordset(jobs) as (
            kind text, payload jsonb, pool text, owner text, priority smallint, max_attempts smallint, delay_ms double precision, run_at timestamptz,
            key text, mode text, unique_ms double precision, debounce_max_ms double precision, parent bigint, root bigint, lane text, cost smallint, run bigint,
            event bigint, trace text, asked boolean)) with ordinality as y) x
    left join sluice.kind k on k.name = x.kind
    cross join lateral (
      select case when x.mode = 'none' then null else coalesce(x.unique_ms * interval '1 ms', k.unique_for) end as unique_for,
             coalesce(x.run_at, at + x.delay_ms * interval '1 ms') as due_at,
             case when x.lane is null and k.lane is null and x.owner is null then '' else sluice.lane_of(x.lane, k.lane, x.owner) end as lane,
             coalesce(x.cost, k.cost) as cost,
             -- A job whose run is over goes on by itself, and so do its children.
             case when x.parent is not null and x.run is null and coalesce(x.mode, k.dedupe) = 'once' then 'keep'
                  else nullif(coalesce(x.mode, k.dedupe, case when coalesce(x.key, x.unique_ms::text, k.unique_for::text) is not null then 'keep' end), 'none') end as mode) d),
  once as (
    insert into sluice.run_key (run, key, job) select run, full_key, id from input where mode = 'once' and run is not null and unique_for is null order by full_key, ordinality
    on conflict do nothing
    returning job),
  fresh as (
    insert into sluice.job (id, kind, pool, lane, cost, owner, shelf, priority, rank, payload, key, parent, root, run, event, max_attempts, run_at, created_at,
                            trace)
    select id, kind, pool, lane, cost, owner, shelf, priority, greatest((date_part('epoch', due_at) * 1000)::bigint, at_ms) - priority * step_ms, payload,
           case when mode = 'keep' then full_key end, parent, root, run, event, max_attempts,
           case when due_at > at then due_at end, at, trace
    from input
    where unique_for is null and (mode is null or mode = 'keep' or (mode = 'once' and id in (select job from once)))
    order by full_key nulls last, ordinality      -- two statements that share keys must meet them in the same order; of equal rows the first is kept
    on conflict (key) where key is not null and shelf is distinct from 'failed' do nothing
    returning id, shelf, pool, lane, rank, run_at)
  select (select array_agg(id) from (select id from input order by ordinality) i),
         (select array_agg(row(f.pool, f.lane, f.low)::sluice.ready_job)
          from (select pool, lane, min(rank) as low from fresh where shelf is null group by pool, lane) f),
         (select min(run_at) from fresh),
         case when (select count(*) from fresh) < jsonb_array_length(jobs)
              then (select json_agg(to_json(i) order by i.full_key, i.ordinality) from input i where not exists (select from fresh f where f.id = i.id)) end
  into ids, ready, due, rest;
  topics := sluice.line_up(ready);

  if rest is not null then
    -- Most of these are kept back by a job that is there, and a statement of its own, whose snapshot is younger, sees it. Whoever finds nobody goes on below.
    for r in select i.ordinality, h.id
             from json_to_recordset(rest) as i(ordinality integer, mode text, unique_for interval, full_key text)
             cross join lateral (select j.id from sluice.job j where j.key = i.full_key and j.shelf is distinct from 'failed' offset 0) h
             where i.mode = 'keep' and i.unique_for is null
    loop
      ids[r.ordinality] := r.id;
      existing := existing || r.ordinality;
    end loop;
    for r in select * from json_to_recordset(rest) as (
      ordinality integer, kind text, payload jsonb, pool text, owner text, priority integer, max_attempts integer, due_at timestamptz,
      key text, mode text, unique_for interval, debounce_max_ms double precision, parent bigint, root bigint, lane text, cost integer, run bigint, event bigint, trace text)
      where ordinality not in (select unnest(existing))
    loop
      select * into made from sluice.enqueue_one(r.kind, r.payload, r.pool, r.owner, r.priority, r.max_attempts, r.due_at, r.key, r.mode,
        r.unique_for, r.debounce_max_ms * interval '1 ms', r.parent, r.root, r.lane, r.cost, r.run, r.event, r.trace);
      ids[r.ordinality] := made.id;
      if not made.created then existing := existing || r.ordinality; end if;
      topics := topics || made.topics;
      due := least(due, made.due_at);
    end loop;
  end if;
  if wake then perform sluice.wake(topics, due); end if;
end $$;
