-- Taking jobs out and ending claims. Plans must not depend on statistics (a queue table is empty when it is analyzed and full a minute later),
-- so these functions pin their planner settings and reach rows by "= any(array)".

-- Up to `slots` ready jobs of one pool for one worker, best rank first. `since` starts the scan past dead index entries: it is a bound the caller
-- learned from an earlier claim. The commit is asynchronous: a claim lost in a crash of the server just runs again, and its fence, seeded by the
-- clock, can never be issued twice.
create function sluice.claim(in_pool text, in_worker bigint, slots integer, since bigint, unknown_kinds text[])
returns table (id bigint, fence bigint, kind text, payload text, attempt smallint, max_attempts smallint, crashes smallint, rank bigint,
               owner text, root bigint, created_ms double precision)
language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  skip text[] := unknown_kinds;
  closed boolean;
  at timestamptz := sluice.now();
  stamp bigint := date_part('epoch', at) * 1000000;
begin
  perform set_config('synchronous_commit', 'off', true);
  select unknown_kinds || coalesce(array_agg(p.name) filter (where p.scope = 'kind'), '{}'), coalesce(bool_or(p.scope = 'pool' and p.name = in_pool), false)
  into skip, closed
  from sluice.pause p;
  if closed then return; end if;
  -- The rescuer deletes the row of a dead process together with its claims: whoever holds the row cannot be rescued in between, and whoever finds
  -- it gone claims nothing.
  perform from sluice.worker w where w.id = in_worker for key share;
  if not found then return; end if;
  return query
  update sluice.job j
  set state = 'running',
      attempt = j.attempt + 1,
      worker = in_worker,
      started_at = at,
      key = case when j.key_rule = 'start' then null else j.key end,
      fence = greatest(j.fence + 1, stamp)
  where j.id = any(array(
    select r.id
    from sluice.job r
    where r.shelf is null and r.state = 'ready' and r.pool = in_pool and r.lane = '' and r.rank >= since and r.crashes < 2 and r.kind <> all(skip)
    order by r.rank, r.id
    limit slots
    for update skip locked))
  returning j.id, j.fence, j.kind, j.payload::text, j.attempt, j.max_attempts, j.crashes, j.rank, j.owner, j.root,
            date_part('epoch', j.created_at) * 1000;
end $$;

-- A follower waits for the end of the job that holds its key. The second statement of a settle sees followers that committed meanwhile; one that
-- commits even later is found by the leader's next beat.
create function sluice.release_followers(keys text[]) returns void
language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
declare
  at_ms bigint := date_part('epoch', sluice.now()) * 1000;
  step_ms bigint := (select priority_step_ms from sluice.setting);
  pools text[];
  due timestamptz;
begin
  -- Its rank tells when the follower was meant to run, which may still be to come.
  with freed as (
    update sluice.job f
    set state = case when f.rank + f.priority * step_ms > at_ms then 'scheduled' else 'ready' end::sluice.job_state,
        run_at = case when f.rank + f.priority * step_ms > at_ms then to_timestamp((f.rank + f.priority * step_ms) / 1000.0) end,
        rank = greatest(f.rank, at_ms - f.priority * step_ms),
        key = f.after_key,
        after_key = null
    where f.after_key = any(keys)
      and not exists (select from sluice.job h where h.key = f.after_key and h.shelf is distinct from 'failed')
    returning f.pool, f.state, f.run_at)
  select array_agg(distinct pool) filter (where state = 'ready'), min(run_at) into pools, due from freed;
  perform sluice.wake(pools, due);
end $$;

-- Ends claims that went well: out of the job table, into the ledger. A claim whose fence is old is left alone and its id is answered.
-- Matching by id and fence only: "and state = 'running'" let the planner walk the wrong index (36 ms instead of 4 for 256 jobs).
create function sluice.settle_done(ids bigint[], fences bigint[]) returns bigint[]
language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set enable_nestloop = off set jit = off
  set plan_cache_mode = force_generic_plan
as $$
declare
  at timestamptz := sluice.now();
  settled bigint[];
  follow text[];
begin
  with gone as (
    delete from sluice.job j
    using unnest(ids, fences) as u(id, fence)
    where j.id = any(ids) and j.id = u.id and j.fence = u.fence
    returning j.*),
  booked as (
    insert into sluice.job_ledger (id, kind, pool, lane, owner, state, priority, payload, key, parent, root, attempt, fence, worker, created_at,
                                   started_at, finished_at)
    select g.id, g.kind, g.pool, g.lane, g.owner, 'succeeded', g.priority, g.payload, g.key, g.parent, g.root, g.attempt, g.fence, g.worker, g.created_at,
           g.started_at, at
    from gone g)
  select array_agg(g.id), array_agg(g.key) filter (where g.key_rule = 'again') into settled, follow from gone g;
  if follow is not null then perform sluice.release_followers(follow); end if;
  if cardinality(settled) = cardinality(ids) then return '{}'; end if;
  return array(select unnest(ids) except select unnest(settled));
end $$;

-- Ends claims in every other way: retry, snooze, failed, canceled, handed back (and done, so that a mixed group is one call).
-- A job that somebody asked to stop does not go back: it is canceled.
create function sluice.settle(in_worker bigint, ids bigint[], fences bigint[], outcomes text[], delays_ms double precision[], run_ats timestamptz[], errors jsonb[])
returns bigint[]
language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set enable_nestloop = off set jit = off
  set plan_cache_mode = force_generic_plan
as $$
declare
  at timestamptz := sluice.now();
  step integer := (select priority_step_ms from sluice.setting);
  settled bigint[];
  follow text[];
  ready text[];
  due timestamptz;
begin
  -- Lock, then look: a cancel that commits while this waits for it must be seen by all parts of the statement below, or none would take the job.
  perform from sluice.job j where j.id = any(ids) order by j.id for update;
  with u as materialized (
    select * from unnest(ids, fences, outcomes, delays_ms, run_ats, errors) as u(id, fence, outcome, delay_ms, run_at, error)),
  gone as (
    delete from sluice.job j
    using u
    where j.id = any(ids) and j.id = u.id and j.fence = u.fence
      and (u.outcome in ('done', 'canceled') or (j.cancel_at is not null and u.outcome in ('retry', 'snooze', 'handed back')))
    returning j.*, case when u.outcome = 'done' then 'succeeded' else 'canceled' end::sluice.job_state as final, coalesce(u.error, j.error) as last_error),
  booked as (
    insert into sluice.job_ledger (id, kind, pool, lane, owner, state, priority, payload, key, parent, root, attempt, fence, worker, created_at,
                                   started_at, finished_at, error)
    select g.id, g.kind, g.pool, g.lane, g.owner, g.final, g.priority, g.payload, g.key, g.parent, g.root, g.attempt, g.fence, g.worker, g.created_at,
           g.started_at, at, case when g.final = 'canceled' then g.last_error end
    from gone g),
  back as (
    update sluice.job j
    set state = case when u.outcome = 'failed' then 'failed' when u.outcome = 'handed back' or coalesce(u.run_at, at + u.delay_ms * interval '1 ms') <= at
                     then 'ready' else 'scheduled' end::sluice.job_state,
        fence = j.fence + 1,
        worker = null,
        attempt = j.attempt - (u.outcome in ('snooze', 'handed back'))::int,
        run_at = case when u.outcome in ('retry', 'snooze') and coalesce(u.run_at, at + u.delay_ms * interval '1 ms') > at
                      then coalesce(u.run_at, at + u.delay_ms * interval '1 ms') end,
        rank = case when u.outcome in ('retry', 'snooze') then sluice.rank(coalesce(u.run_at, at + u.delay_ms * interval '1 ms'), j.priority, step) else j.rank end,
        error = coalesce(u.error, j.error)
    from u
    where j.id = any(ids) and j.id = u.id and j.fence = u.fence
      and (u.outcome = 'failed' or (j.cancel_at is null and u.outcome in ('retry', 'snooze', 'handed back')))
    returning j.id, j.pool, j.state, j.run_at, j.attempt, j.started_at, j.key, j.key_rule, u.outcome, u.error),
  noted as (
    insert into sluice.attempt (job, attempt, worker, started_at, ended_at, outcome, error)
    select b.id, b.attempt + (b.outcome = 'snooze')::int, in_worker, b.started_at, at, b.outcome, b.error
    from back b
    where b.outcome <> 'handed back')
  select array(select id from gone union all select id from back),
         array(select key from gone where key_rule = 'again' union all select key from back where key_rule = 'again' and state = 'failed'),
         array(select distinct pool from back where state = 'ready'),
         (select min(run_at) from back)
  into settled, follow, ready, due;
  if follow <> '{}' then perform sluice.release_followers(follow); end if;
  perform sluice.wake(ready, due);
  if cardinality(settled) = cardinality(ids) then return '{}'; end if;
  return array(select unnest(ids) except select unnest(settled));
end $$;

-- What only the process itself can know: claims whose answer got lost on the way. After every reconnect, before the next claim.
create function sluice.audit(in_worker bigint, held bigint[]) returns integer
language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  pools text[];
  n integer;
begin
  with back as (
    update sluice.job j
    set state = 'ready', fence = j.fence + 1, worker = null, attempt = j.attempt - 1
    where j.shelf is null and j.state = 'running' and j.worker = in_worker and j.id <> all(held)
    returning j.pool)
  select array_agg(distinct pool), count(*) into pools, n from back;
  perform sluice.wake(pools, null);
  return n;
end $$;

-- Asks jobs to stop. What does not run is canceled at once; what runs is told, and canceled when its handler gives up.
create function sluice.cancel(ids bigint[], reason text) returns table (id bigint, answer text)
language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  at timestamptz := sluice.now();
  follow text[];
begin
  perform 1 from sluice.job j where j.id = any(ids) order by j.id for update;
  return query
  with told as (
    update sluice.job j
    set cancel_at = coalesce(j.cancel_at, at),
        error = coalesce(case when reason is not null then jsonb_build_object('message', reason) end, j.error)
    where j.id = any(ids) and j.state = 'running'
    returning j.id, pg_notify('sluice', 'cancel:' || j.worker || ':' || j.id)),
  gone as (
    delete from sluice.job j where j.id = any(ids) and j.state <> 'running' returning j.*),
  booked as (
    insert into sluice.job_ledger (id, kind, pool, lane, owner, state, priority, payload, key, parent, root, attempt, fence, worker, created_at,
                                   started_at, finished_at, error)
    select g.id, g.kind, g.pool, g.lane, g.owner, 'canceled', g.priority, g.payload, g.key, g.parent, g.root, g.attempt, g.fence, g.worker, g.created_at,
           g.started_at, at, coalesce(case when reason is not null then jsonb_build_object('message', reason) end, g.error)
    from gone g)
  select t.id, 'requested' from told t
  union all select g.id, 'canceled' from gone g;
  select array_agg(j.after_key) into follow from sluice.job j
  where j.after_key is not null and not exists (select from sluice.job h where h.key = j.after_key and h.shelf is distinct from 'failed');
  if follow is not null then perform sluice.release_followers(follow); end if;
end $$;

-- Puts failed jobs back to work with a clean count. One whose key is held by a newer job stays and is answered as 'conflict'.
create function sluice.retry(ids bigint[]) returns table (id bigint, answer text)
language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  at timestamptz := sluice.now();
  one bigint;
  to_pool text;
begin
  foreach one in array ids loop
    id := one;
    begin
      update sluice.job j
      set state = case when exists (select from sluice.pause p where p.scope = 'kind' and p.name = j.kind) then 'paused' else 'ready' end::sluice.job_state,
          attempt = 0, crashes = 0, run_at = null, cancel_at = null,
          rank = sluice.rank(at, j.priority, (select priority_step_ms from sluice.setting))
      where j.id = one and j.state = 'failed'
      returning j.pool into to_pool;
      answer := case when found then 'retried' else 'not failed' end;
      if found then perform sluice.wake(array[to_pool], null); end if;
    exception when unique_violation then
      answer := 'conflict';
    end;
    return next;
  end loop;
end $$;

-- Gives up on failed jobs: they leave for the ledger as failed.
create function sluice.discard(ids bigint[]) returns integer
language sql
as $$
  with gone as (delete from sluice.job j where j.id = any(ids) and j.state = 'failed' returning j.*),
  booked as (
    insert into sluice.job_ledger (id, kind, pool, lane, owner, state, priority, payload, key, parent, root, attempt, fence, worker, created_at,
                                   started_at, finished_at, error)
    select g.id, g.kind, g.pool, g.lane, g.owner, 'failed', g.priority, g.payload, g.key, g.parent, g.root, g.attempt, g.fence, g.worker, g.created_at,
           g.started_at, sluice.now(), g.error
    from gone g)
  select count(*)::int from gone $$;

-- A suspect was held by two processes that died. It runs again alone, so that a third death speaks for itself.
create function sluice.claim_suspect(in_worker bigint, pools text[], unknown_kinds text[])
returns table (id bigint, fence bigint, kind text, payload text, attempt smallint, max_attempts smallint, crashes smallint, rank bigint,
               owner text, root bigint, created_ms double precision)
language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
#variable_conflict use_column
declare
  at timestamptz := sluice.now();
begin
  perform from sluice.worker w where w.id = in_worker for key share;
  if not found then return; end if;
  return query
  update sluice.job j
  set state = 'running', attempt = j.attempt + 1, worker = in_worker, started_at = at,
      key = case when j.key_rule = 'start' then null else j.key end,
      fence = greatest(j.fence + 1, (date_part('epoch', at) * 1000000)::bigint)
  where j.id = any(array(
    select r.id
    from sluice.job r
    where r.crashes >= 2 and r.state = 'ready' and r.pool = any(pools) and r.kind <> all(unknown_kinds)
      and not exists (select from sluice.pause p where (p.scope = 'kind' and p.name = r.kind) or (p.scope = 'pool' and p.name = r.pool))
    order by r.id
    limit 1
    for update skip locked))
  returning j.id, j.fence, j.kind, j.payload::text, j.attempt, j.max_attempts, j.crashes, j.rank, j.owner, j.root, date_part('epoch', j.created_at) * 1000;
end $$;
