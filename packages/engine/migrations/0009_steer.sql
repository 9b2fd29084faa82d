-- What people do from outside: to jobs, lanes and owners.

-- Asks jobs to stop, and with `below` all that is to come of them. What does not run is canceled at once; what runs is told, and canceled when its handler gives up.
-- Who is told hears the fence as well: the request is meant for that claim and for none that follows.
-- A job that is just writing its last words is in the hand of that transaction, maybe for long. Who waits for it should hold no other meanwhile: without `patient` it is answered as 'busy'.
create function sluice.cancel(asked bigint[], reason text, below boolean default false, patient boolean default true) returns table (id bigint, answer text, fence bigint)
language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  at timestamptz := sluice.now();
  why jsonb := case when reason is not null then jsonb_build_object('message', reason) end;
  ids bigint[];
  gone bigint[];
  follow text[];
  ended sluice.run_end[];
begin
  if patient then
    ids := array(select j.id from sluice.job j where j.id = any(asked) order by j.id for update);
  else
    ids := array(select j.id from sluice.job j where j.id = any(asked) order by j.id for update skip locked);
  end if;
  gone := array(select j.id from sluice.job j where j.id = any(ids) and j.worker is null);
  ended := array(select row(j.run, 'canceled', array_agg(j.id))::sluice.run_end from sluice.job j
                 where j.id = any(ids) and j.worker is null and j.shelf is distinct from 'failed' and j.run is not null group by j.run);
  return query
  with told as (
    update sluice.job j
    set cancel_at = coalesce(j.cancel_at, at),
        cancel_below = nullif(coalesce(j.cancel_below, false) or below, false),
        error = coalesce(why, j.error)
    where j.id = any(ids) and j.worker is not null
    returning j.id, j.fence, pg_notify('sluice', 'cancel:' || j.worker || ':' || j.id || ':' || j.fence))
  select t.id, 'requested', t.fence from told t
  union all select g.id, 'canceled', null from unnest(gone) as g(id)
  union all select j.id, 'busy', null from sluice.job j where j.id = any(asked) and j.id <> all(ids);
  -- Only those that wait for these jobs: another key may be in somebody's hand.
  follow := (select array_agg(j.key) from sluice.job j where j.id = any(gone) and j.key is not null and j.shelf is distinct from 'failed');
  perform sluice.retire(gone, 'canceled', why);
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
  for one in select distinct u.id from unnest(ids) as u(id) order by u.id loop      -- as everybody who locks many
    id := one;
    begin
      update sluice.job j
      set shelf = case when exists (select from sluice.pause p where p.scope = 'kind' and p.name = j.kind) then 'paused'::sluice.job_state end,
          fingerprint = null, attempt = 0, crashes = 0, run_at = null, cancel_at = null, cancel_below = null,
          rank = sluice.rank(at, j.priority, (select priority_step_ms from sluice.setting))
      where j.id = one and j.shelf = 'failed'
      returning j.id, j.pool, j.lane, j.rank, j.shelf, j.run into put;
      answer := case when found then 'retried' else 'not failed' end;
      if found then
        if put.run is not null then perform sluice.rejoin_run(put.run, put.id); end if;
        if put.shelf is null then perform sluice.wake(sluice.line_up(array[row(put.pool, put.lane, put.rank)::sluice.ready_job]), null); end if;
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
  set enable_seqscan = off set enable_bitmapscan = off
as $$ select sluice.retire(array(select j.id from sluice.job j where j.id = any(ids) and j.shelf = 'failed' order by j.id for update), 'failed', null) $$;

-- Since when: a second pause only changes the reason.
create function sluice.paused_at(change jsonb, was timestamptz) returns timestamptz
language sql volatile
as $$ select case when not change ? 'paused' then was when change ->> 'paused' is not null then coalesce(was, sluice.now()) end $$;

-- Changes what a lane may do; fields that are left out stay as they are. Only this row is touched, however many jobs wait.
create function sluice.change_lane(in_key text, change jsonb) returns void
language plpgsql
  set lock_timeout = '3s'
as $$
begin
  perform sluice.adopt_lanes(array[in_key]);
  update sluice.lane l
  set owner = case when change ? 'owner' then change ->> 'owner' else l.owner end,
      weight = coalesce((change ->> 'weight')::smallint, l.weight),
      cap = case when change ? 'cap' then (change ->> 'cap')::integer else l.cap end,
      metered = coalesce((change ->> 'metered')::boolean, l.metered),
      budget_limit = case when change ? 'budget_limit' then (change ->> 'budget_limit')::integer else l.budget_limit end,
      budget_floor = coalesce((change ->> 'budget_floor')::integer, l.budget_floor),
      breaker_after = case when change ? 'breaker_after' then (change ->> 'breaker_after')::smallint else l.breaker_after end,
      breaker_for = case when change ? 'breaker_ms' then (change ->> 'breaker_ms')::double precision * interval '1 ms' else l.breaker_for end,
      hold_until = case when change ? 'hold_until' then (change ->> 'hold_until')::timestamptz else l.hold_until end,
      paused = case when change ? 'paused' then change ->> 'paused' else l.paused end,
      paused_at = sluice.paused_at(change, l.paused_at),
      custom = l.custom or change ?| array['weight', 'cap', 'metered', 'budget_limit', 'budget_floor', 'breaker_after']
  where l.key = in_key;
  perform pg_notify('sluice', 'lane:');
  perform sluice.wake(sluice.reopen(array[in_key]), (select l.opens_at from sluice.lane l where l.key = in_key));
exception when lock_not_available then
  perform sluice.refuse_held(format('lane "%s"', in_key), (select sluice.held_by(l.xmax, '0') from sluice.lane l where l.key = in_key));
end $$;

-- The same for an owner: its row closes or opens all of its lanes. Their locks make it wait for claims and settles under way: when a pause is acknowledged,
-- no claim that began before starts a job in them any more, and no settle that knew of no cap leaves a lane waiting for it.
create function sluice.change_owner(in_name text, change jsonb) returns void
language plpgsql
  set lock_timeout = '3s'
as $$
declare
  keys text[];
begin
  insert into sluice.owner (name) values (in_name) on conflict do nothing;
  update sluice.owner o
  set cap = case when change ? 'cap' then (change ->> 'cap')::integer else o.cap end,
      hold_until = case when change ? 'hold_until' then (change ->> 'hold_until')::timestamptz
                        when change ? 'hold_at_least' then greatest(o.hold_until, (change ->> 'hold_at_least')::timestamptz)
                        else o.hold_until end,
      paused = case when change ? 'paused' then change ->> 'paused' else o.paused end,
      paused_at = sluice.paused_at(change, o.paused_at)
  where o.name = in_name;
  perform from sluice.lane l where l.owner = in_name order by l.key for no key update;
  keys := array(select l.key from sluice.lane l where l.owner = in_name and l.shut);
  perform sluice.wake(sluice.reopen(keys) || array['turn:*', 'ready:*'], (select o.hold_until from sluice.owner o where o.name = in_name and o.hold_until > sluice.now()));
exception when lock_not_available then
  perform sluice.refuse_held(format('owner "%s"', in_name), coalesce(
    (select sluice.held_by(o.xmax, '0') from sluice.owner o where o.name = in_name),
    (select h.holder from (select sluice.held_by(l.xmax, '0') as holder from sluice.lane l where l.owner = in_name) h where h.holder is not null limit 1)));
end $$;

-- Limits by pattern, from processes that define them. Lanes that somebody changed by hand keep their own.
create function sluice.register_lane_classes(classes jsonb) returns void
language plpgsql
as $$
declare
  keys text[];
begin
  with given as (
    select * from jsonb_to_recordset(classes) as c(pattern text, cap integer, metered boolean, budget_limit integer, budget_floor integer, weight smallint,
                                                   breaker_after smallint, breaker_ms double precision)),
  changed as (
    insert into sluice.lane_class as k (pattern, cap, metered, budget_limit, budget_floor, weight, breaker_after, breaker_for)
    select pattern, cap, metered, budget_limit, budget_floor, weight, breaker_after, breaker_ms * interval '1 ms' from given order by pattern
    on conflict (pattern) do update
    set cap = excluded.cap, metered = excluded.metered, budget_limit = excluded.budget_limit, budget_floor = excluded.budget_floor, weight = excluded.weight,
        breaker_after = excluded.breaker_after, breaker_for = excluded.breaker_for
    where (k.cap, k.metered, k.budget_limit, k.budget_floor, k.weight, k.breaker_after, k.breaker_for)
      is distinct from (excluded.cap, excluded.metered, excluded.budget_limit, excluded.budget_floor, excluded.weight, excluded.breaker_after, excluded.breaker_for)
    returning 1)
  select array(select 1 from changed) into keys;
  if keys = '{}' then return; end if;
  keys := array(select l.key from sluice.lane l where not l.custom order by l.key for no key update);
  update sluice.lane l
  set cap = c.cap, metered = l.metered or c.metered, budget_limit = c.budget_limit, budget_floor = c.budget_floor, weight = c.weight,
      breaker_after = c.breaker_after, breaker_for = c.breaker_for
  from (select k.key, c.* from unnest(keys) as k(key) cross join lateral sluice.class_of(k.key) c) c
  where l.key = c.key;
  perform sluice.wake(sluice.reopen(keys), null);
end $$;
