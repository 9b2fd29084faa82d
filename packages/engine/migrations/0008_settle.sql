-- Ending claims. The same planner settings as in 0006, for the same reason.

-- A follower waits for the end of the job that holds its key. The second statement of a settle sees followers that committed meanwhile; one that
-- commits even later is found by the leader's next beat.
create function sluice.release_followers(keys text[]) returns void
language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off set enable_nestloop = on set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
declare
  at_ms bigint := date_part('epoch', sluice.now()) * 1000;
  step_ms bigint := (select priority_step_ms from sluice.setting);
  ready sluice.ready_job[];
  due timestamptz;
begin
  -- Its rank tells when the follower was meant to run, which may still be to come.
  with freed as (
    update sluice.job f
    set shelf = case when f.rank + f.priority * step_ms > at_ms then 'scheduled'::sluice.job_state end,
        run_at = case when f.rank + f.priority * step_ms > at_ms then to_timestamp((f.rank + f.priority * step_ms) / 1000.0) end,
        rank = greatest(f.rank, at_ms - f.priority * step_ms),
        key = f.after_key,
        after_key = null
    where f.after_key = any(keys)
      and not exists (select from sluice.job h where h.key = f.after_key and h.shelf is distinct from 'failed')
    returning f.pool, f.lane, f.rank, f.shelf, f.run_at)
  select array_agg(row(pool, lane, rank)::sluice.ready_job) filter (where shelf is null), min(run_at) into ready, due from freed;
  perform sluice.wake(sluice.line_up(ready), due);
end $$;

-- A claim lets the key of a `replace` or `debounce` job go, for it is about to start. These never did: each has its key again, unless somebody else has it by now,
-- or is just taking it in a transaction that is still open: nobody who goes back waits for a stranger.
create function sluice.take_keys_back(ids bigint[]) returns void
language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off set lock_timeout = '50ms'
as $$
declare
  one record;
begin
  for one in select j.id from sluice.job j where j.id = any(ids) and j.let_go is not null and j.key is null order by j.let_go loop
    begin
      update sluice.job j set key = j.let_go, let_go = null where j.id = one.id;
    exception
      when unique_violation then
        null;      -- the younger one stands for both: it came while this one seemed to run
      when lock_not_available then
        perform set_config('lock_timeout', '1ms', true);      -- a claim may have let hundreds of keys go: whoever waits, waits once
    end;
  end loop;
end $$;

-- Jobs leave for the ledger whose end is no settle: canceled while they waited, given up, lost after somebody asked them to stop. The caller holds their rows.
create function sluice.retire(ids bigint[], final sluice.job_state, reason jsonb) returns integer
language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  retired integer;
begin
  with gone as (delete from sluice.job j where j.id = any(ids) returning j.*),
  booked as (
    insert into sluice.job_ledger (id, kind, pool, lane, owner, state, priority, payload, key, parent, root, run, event, attempt, fence, worker, created_at,
                                   started_at, finished_at, error, trace)
    select g.id, g.kind, g.pool, g.lane, g.owner, final, g.priority, g.payload, g.key, g.parent, g.root, g.run, g.event, g.attempt, g.fence, g.worker, g.created_at,
           g.started_at, sluice.now(), coalesce(reason, g.error), g.trace
    from gone g)
  select count(*) into retired from gone;
  -- Nobody has to do anything about it: a hint for people who look on.
  if retired > 0 then perform pg_notify('sluice', 'retired:'); end if;
  return retired;
end $$;

-- Ends claims that went well: out of the job table, into the ledger. A claim whose fence is old is left alone and its id is answered.
-- Matching by id and fence only: "and it runs" let the planner walk the wrong index (36 ms instead of 4 for 256 jobs).
-- With `wait_ms`, which holds until the end of the transaction, nobody is waited for who keeps another one open: it fails (55P03), and the ends go on one by one.
-- `below` are jobs that ended well although they and all that comes of them had been canceled: their children are to be canceled.
-- `last` says that nothing follows in this transaction. Otherwise the lanes and runs, which are shared, are left to `count_ends`, after the children: these may
-- have to wait for a stranger who holds their key, and nobody else should wait with them.
create function sluice.settle_done(ids bigint[], fences bigint[], last boolean, wait_ms integer default null, out stale bigint[], out in_lanes jsonb, out in_runs jsonb, out below bigint[])
language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set enable_nestloop = off set jit = off
  set plan_cache_mode = force_generic_plan
as $$
declare
  at timestamptz := sluice.now();
  settled bigint[];
  follow text[];
  laned text[];
  costs smallint[];
  lanes sluice.lane_change[];
  runs bigint[];
  jobs bigint[];
  look bigint[];
  ended sluice.run_end[];
  patience constant text := case when wait_ms is not null then set_config('lock_timeout', wait_ms::text, true) end;      -- as in claim, no statement of its own
begin
  -- Only the columns that are needed, and read once beside the ledger: most jobs have neither lane nor run, and a settle of those takes a tenth less than
  -- with a look for each.
  with gone as (
    delete from sluice.job j
    using unnest(ids, fences) as u(id, fence)
    where j.id = any(ids) and j.id = u.id and j.fence = u.fence
    returning j.id, j.kind, j.pool, j.lane, j.owner, j.cost, j.priority, j.payload, j.key, j.key_rule, j.parent, j.root, j.run, j.event, j.attempt, j.fence,
              j.worker, j.created_at, j.started_at, j.cancel_below, j.trace),
  booked as (
    insert into sluice.job_ledger (id, kind, pool, lane, owner, state, priority, payload, key, parent, root, run, event, attempt, fence, worker, created_at,
                                   started_at, finished_at, trace)
    select g.id, g.kind, g.pool, g.lane, g.owner, 'succeeded', g.priority, g.payload, g.key, g.parent, g.root, g.run, g.event, g.attempt, g.fence, g.worker, g.created_at,
           g.started_at, at, g.trace
    from gone g)
  select array_agg(g.id), array_agg(g.key) filter (where g.key_rule = 'again'),
         array_agg(g.lane) filter (where g.lane <> ''), array_agg(g.cost) filter (where g.lane <> ''),
         array_agg(g.run) filter (where g.run is not null), array_agg(g.id) filter (where g.run is not null),
         array_agg(g.id) filter (where g.cancel_below)
  into settled, follow, laned, costs, runs, jobs, below
  from gone g;
  if follow is not null then perform sluice.release_followers(follow); end if;
  if laned is not null then
    lanes := (select array_agg(row(l.lane, l.jobs, l.cost, 0, l.jobs, 0)::sluice.lane_change)
              from (select u.lane, count(*)::integer as jobs, sum(u.cost)::integer as cost from unnest(laned, costs) as u(lane, cost) group by u.lane) l);
  end if;
  if last and lanes is not null then perform sluice.leave_lanes(lanes, null); end if;
  if runs is not null then
    look := case when last then sluice.count_down(runs, jobs) else runs end;
    if look <> '{}' then
      ended := (select array_agg(row(r.run, 'succeeded', r.jobs)::sluice.run_end)
                from (select u.run, array_agg(u.id) as jobs from unnest(runs, jobs) as u(run, id) where u.run = any(look) group by u.run) r);
      if last then perform sluice.end_in_runs(ended, null); end if;
    end if;
  end if;
  if not last then
    in_lanes := to_jsonb(lanes);
    in_runs := to_jsonb(ended);
  end if;
  stale := case when cardinality(settled) = cardinality(ids) then '{}' else array(select unnest(ids) except select unnest(settled)) end;
end $$;

-- Takes hold of a claim before its handler writes, and names the session that does. No row: somebody else owns the job now.
create function sluice.hold_claim(in_id bigint, in_fence bigint) returns setof integer
language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off set lock_timeout = '500ms'
as $$
begin
  perform from sluice.job j where j.id = in_id and j.fence = in_fence for update;
  if found then return next pg_backend_pid(); end if;
end $$;

-- Ends claims in every other way: retry, snooze, failed, canceled, handed back (and done, so that a mixed group is one call).
-- A job that somebody asked to stop does not go back: it is canceled.
-- `refunds` are permits that were not used after all (null: none of them, the call was never made), `said` is what servers answered about their budgets.
create function sluice.settle(in_worker bigint, ids bigint[], fences bigint[], outcomes text[], delays_ms double precision[], run_ats timestamptz[], errors jsonb[],
  refunds integer[], said jsonb, last boolean, wait_ms integer default null, out stale bigint[], out in_lanes jsonb, out in_runs jsonb, out below bigint[])
language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set enable_nestloop = off set jit = off
  set plan_cache_mode = force_generic_plan
as $$
declare
  at timestamptz := sluice.now();
  step integer := (select priority_step_ms from sluice.setting);
  settled bigint[];
  follow text[];
  ready sluice.ready_job[];
  due timestamptz;
  lanes sluice.lane_change[];
  ended sluice.run_end[];
  look bigint[];
  patience constant text := case when wait_ms is not null then set_config('lock_timeout', wait_ms::text, true) end;
begin
  -- Lock, then look: a cancel that commits while this waits for it must be seen by all parts of the statement below, or none would take the job.
  perform from sluice.job j where j.id = any(ids) order by j.id for update;
  with u as materialized (
    select v.id, v.fence, v.outcome, v.error, v.refund,
           -- A snooze uses up no attempt: until a time that has passed it would go round and round, so it takes a second.
           case when v.outcome = 'snooze' and coalesce(v.run_at, at + v.delay_ms * interval '1 ms') <= at then at + interval '1 s'
                else coalesce(v.run_at, at + v.delay_ms * interval '1 ms') end as due
    from unnest(ids, fences, outcomes, delays_ms, run_ats, errors, refunds) as v(id, fence, outcome, delay_ms, run_at, error, refund)),
  gone as (
    delete from sluice.job j
    using u
    where j.id = any(ids) and j.id = u.id and j.fence = u.fence
      and (u.outcome in ('done', 'canceled') or (j.cancel_at is not null and u.outcome in ('retry', 'snooze', 'handed back')))
    returning j.*, case when u.outcome = 'done' then 'succeeded' else 'canceled' end::sluice.job_state as final, coalesce(u.error, j.error) as last_error,
              u.outcome, least(coalesce(u.refund, j.cost), j.cost) as refund),
  booked as (
    insert into sluice.job_ledger (id, kind, pool, lane, owner, state, priority, payload, key, parent, root, run, event, attempt, fence, worker, created_at,
                                   started_at, finished_at, error, trace)
    select g.id, g.kind, g.pool, g.lane, g.owner, g.final, g.priority, g.payload, g.key, g.parent, g.root, g.run, g.event, g.attempt, g.fence, g.worker, g.created_at,
           g.started_at, at, case when g.final = 'canceled' then g.last_error end, g.trace
    from gone g),
  back as (
    update sluice.job j
    set shelf = case when u.outcome = 'failed' then 'failed' when u.outcome = 'handed back' or u.due <= at then null else 'scheduled' end::sluice.job_state,
        fence = j.fence + 1,
        worker = null,
        parcel = null,
        attempt = j.attempt - (u.outcome in ('snooze', 'handed back'))::int,
        crashes = case when u.outcome in ('retry', 'snooze') then 0 else j.crashes end,
        run_at = case when u.outcome in ('retry', 'snooze') and u.due > at then u.due end,
        rank = case when u.outcome in ('retry', 'snooze') then sluice.rank(u.due, j.priority, step) else j.rank end,
        error = coalesce(u.error, j.error),
        fingerprint = case when u.outcome = 'failed' then sluice.error_fingerprint(j.kind, coalesce(u.error, j.error)) end
    from u
    where j.id = any(ids) and j.id = u.id and j.fence = u.fence
      and (u.outcome = 'failed' or (j.cancel_at is null and u.outcome in ('retry', 'snooze', 'handed back')))
    returning j.id, j.pool, j.lane, j.cost, j.rank, j.run, j.shelf, j.run_at, j.attempt, j.started_at, j.key, j.key_rule, u.outcome, u.error,
              least(coalesce(u.refund, j.cost), j.cost) as refund),
  noted as (
    insert into sluice.attempt (job, attempt, worker, started_at, ended_at, outcome, error)
    select b.id, b.attempt + (b.outcome = 'snooze')::int, in_worker, b.started_at, at, b.outcome, b.error
    from back b
    where b.outcome <> 'handed back')
  select array(select id from gone union all select id from back),
         array(select key from gone where key_rule = 'again' union all select key from back where key_rule = 'again' and shelf = 'failed'),
         (select array_agg(row(pool, lane, rank)::sluice.ready_job) from back where shelf is null),
         (select min(run_at) from back),
         (select array_agg(row(x.lane, 1, x.cost, x.refund, (x.outcome = 'done')::int, (x.outcome in ('retry', 'failed'))::int)::sluice.lane_change)
          from (select lane, cost, refund, outcome from gone where lane <> '' union all select lane, cost, refund, outcome from back where lane <> '') x),
         (select array_agg(row(r.run, r.state, r.jobs)::sluice.run_end)
          from (select x.run, x.state, array_agg(x.id) as jobs
                from (select run, id, final as state from gone where run is not null union all select run, id, shelf from back where run is not null and shelf = 'failed') x
                group by x.run, x.state) r),
         (select array_agg(id) from gone where cancel_below)
  into settled, follow, ready, due, lanes, ended, below;
  if follow <> '{}' then perform sluice.release_followers(follow); end if;
  if ready is not null then
    perform sluice.take_keys_back(array(select u.id from unnest(ids, outcomes, refunds) as u(id, outcome, refund) where u.outcome = 'handed back' and u.refund is null));
  end if;
  perform sluice.wake(sluice.line_up(ready), due);
  if not last then
    in_lanes := to_jsonb(lanes);
    in_runs := to_jsonb(ended);
  else
    if lanes is not null then perform sluice.leave_lanes(lanes, said); end if;
    if ended is not null then
      -- As in settle_done: what only counts down does not take the long way.
      if not exists (select from unnest(ended) as e where e.state <> 'succeeded') then
        select sluice.count_down(array_agg(e.run), array_agg(j.id)) into look from unnest(ended) as e, unnest(e.jobs) as j(id);
        ended := array(select e from unnest(ended) as e where e.run = any(look));
      end if;
      if ended <> '{}' then perform sluice.end_in_runs(ended, null); end if;
    end if;
  end if;
  stale := case when cardinality(settled) = cardinality(ids) then '{}' else array(select unnest(ids) except select unnest(settled)) end;
end $$;

-- The last statement of a settle with children: lanes first, then runs, with what was `added` to them.
create function sluice.count_ends(in_lanes jsonb, said jsonb, in_runs jsonb, added jsonb) returns void
language plpgsql
as $$
begin
  if in_lanes is not null then
    perform sluice.leave_lanes(array(select c::sluice.lane_change from jsonb_populate_recordset(null::sluice.lane_change, in_lanes) as c), said);
  end if;
  if in_runs is not null or added is not null then
    perform sluice.end_in_runs(array(select e::sluice.run_end from jsonb_populate_recordset(null::sluice.run_end, coalesce(in_runs, '[]')) as e), added);
  end if;
end $$;

-- What only the process itself can know: claims whose answer got lost on the way. After every reconnect, before the next claim.
-- It has the row of the process in its hand, which the heartbeat needs: so it waits for no job that somebody holds (`left_over`), and for a table that is locked only briefly.
create function sluice.audit(in_worker bigint, held bigint[], out jobs integer, out until_fence bigint, out left_over boolean)
language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off set lock_timeout = '100ms'
as $$
declare
  mine bigint[];
  lost bigint[];
  canceled bigint[];
  ready sluice.ready_job[];
  lanes sluice.lane_change[];
  ended sluice.run_end[];
begin
  jobs := 0;
  -- Whoever is just handing a job over to it is waited for. It has taken its offer back, so that nobody else does: of what is to come, nothing has a fence as low as this.
  perform from sluice.worker w where w.id = in_worker for update;
  until_fence := date_part('epoch', sluice.now()) * 1000000;
  -- Lock, then look: what somebody has asked to stop does not go back.
  mine := array(select q.id from sluice.queued q where q.worker = in_worker and q.id <> all(held));
  lost := array(select j.id from sluice.job j where j.id = any(mine) and j.worker = in_worker order by j.id for update skip locked);
  left_over := exists (select from sluice.job j where j.id = any(mine) and j.worker = in_worker and j.id <> all(lost));
  if lost = '{}' then return; end if;
  -- These calls were never made: the permits are given back.
  select array_agg(row(j.lane, 1, j.cost, j.cost, 0, 0)::sluice.lane_change) filter (where j.lane <> ''), array_agg(j.id) filter (where j.cancel_at is not null)
  into lanes, canceled
  from sluice.job j where j.id = any(lost);
  ended := (select array_agg(row(r.run, 'canceled', r.jobs)::sluice.run_end)
            from (select j.run, array_agg(j.id) as jobs from sluice.job j where j.id = any(canceled) and j.run is not null group by j.run) r);
  with back as (
    update sluice.job j
    set fence = j.fence + 1, worker = null, parcel = null, attempt = j.attempt - 1
    where j.id = any(lost) and j.cancel_at is null
    returning j.pool, j.lane, j.rank)
  select array_agg(row(pool, lane, rank)::sluice.ready_job) into ready from back;
  if canceled is not null then perform sluice.retire(canceled, 'canceled', null); end if;
  perform sluice.take_keys_back(lost);
  perform sluice.wake(sluice.line_up(ready), null);
  if lanes is not null then perform sluice.leave_lanes(lanes, null); end if;
  if ended is not null then perform sluice.end_in_runs(ended, null); end if;
  jobs := cardinality(lost);
end $$;
