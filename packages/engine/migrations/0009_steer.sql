-- What people do to jobs from outside.

-- Asks jobs to stop, and with `below` all that is to come of them. What does not run is canceled at once; what runs is told, and canceled when its handler gives up.
create function sluice.cancel(ids bigint[], reason text, below boolean default false) returns table (id bigint, answer text)
language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  at timestamptz := sluice.now();
  follow text[];
  ended sluice.run_end[];
begin
  perform 1 from sluice.job j where j.id = any(ids) order by j.id for update;
  ended := array(select row(j.run, j.id, 'canceled')::sluice.run_end from sluice.job j where j.id = any(ids) and j.state not in ('running', 'failed') and j.run is not null);
  return query
  with told as (
    update sluice.job j
    set cancel_at = coalesce(j.cancel_at, at),
        cancel_below = nullif(coalesce(j.cancel_below, false) or below, false),
        error = coalesce(case when reason is not null then jsonb_build_object('message', reason) end, j.error)
    where j.id = any(ids) and j.state = 'running'
    returning j.id, pg_notify('sluice', 'cancel:' || j.worker || ':' || j.id)),
  gone as (
    delete from sluice.job j where j.id = any(ids) and j.state <> 'running' returning j.*),
  booked as (
    insert into sluice.job_ledger (id, kind, pool, lane, owner, state, priority, payload, key, parent, root, run, event, attempt, fence, worker, created_at,
                                   started_at, finished_at, error)
    select g.id, g.kind, g.pool, g.lane, g.owner, 'canceled', g.priority, g.payload, g.key, g.parent, g.root, g.run, g.event, g.attempt, g.fence, g.worker, g.created_at,
           g.started_at, at, coalesce(case when reason is not null then jsonb_build_object('message', reason) end, g.error)
    from gone g)
  select t.id, 'requested' from told t
  union all select g.id, 'canceled' from gone g;
  select array_agg(j.after_key) into follow from sluice.job j
  where j.after_key is not null and not exists (select from sluice.job h where h.key = j.after_key and h.shelf is distinct from 'failed');
  if follow is not null then perform sluice.release_followers(follow); end if;
  if ended <> '{}' then perform sluice.end_in_runs(ended, null); end if;
end $$;

-- Puts failed jobs back to work with a clean count. One whose key is held by a newer job, or whose run cannot go on beside a newer one, stays and is
-- answered as 'conflict'.
create function sluice.retry(ids bigint[]) returns table (id bigint, answer text)
language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  at timestamptz := sluice.now();
  one bigint;
  put record;
begin
  foreach one in array ids loop
    id := one;
    begin
      update sluice.job j
      set state = case when exists (select from sluice.pause p where p.scope = 'kind' and p.name = j.kind) then 'paused' else 'ready' end::sluice.job_state,
          attempt = 0, crashes = 0, run_at = null, cancel_at = null, cancel_below = null,
          rank = sluice.rank(at, j.priority, (select priority_step_ms from sluice.setting))
      where j.id = one and j.state = 'failed'
      returning j.id, j.pool, j.lane, j.rank, j.state, j.run into put;
      answer := case when found then 'retried' else 'not failed' end;
      if found then
        if put.run is not null then perform sluice.rejoin_run(put.run, put.id); end if;
        if put.lane <> '' and put.state = 'ready' then perform sluice.add_turn(put.pool, put.lane, put.rank); end if;
        perform sluice.wake(array[sluice.topic(put.pool, put.lane)], null);
      end if;
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
    insert into sluice.job_ledger (id, kind, pool, lane, owner, state, priority, payload, key, parent, root, run, event, attempt, fence, worker, created_at,
                                   started_at, finished_at, error)
    select g.id, g.kind, g.pool, g.lane, g.owner, 'failed', g.priority, g.payload, g.key, g.parent, g.root, g.run, g.event, g.attempt, g.fence, g.worker, g.created_at,
           g.started_at, sluice.now(), g.error
    from gone g)
  select count(*)::int from gone $$;
