-- Handing over: a process that runs nothing says so, and the next lone enqueue (0005) makes its job as a claim of that process, which hears of it with the commit. That saves the
-- wake-up of all others and the claim that would follow. What does not fit goes the usual way. docs/adr/0017 tells why it is safe.
-- "Idle" is an advisory lock that the process holds on the connection where it listens: nothing is written for it, and it is gone when the connection is. Its class are the
-- letters "slui", its number is a hash of the channel's name.

-- Listens to a channel of one's own. Whoever knows its name reads payloads there, so nobody can guess it, and it stands in no text of a statement that others may look at.
create function sluice.listen_own() returns text
language plpgsql
as $$
declare
  name text := 'sluice_' || replace(gen_random_uuid()::text, '-', '');
begin
  execute format('listen %I', name);
  return name;
end $$;

-- Jobs that were handed to a process since then and that it has not settled.
create function sluice.handed_to(in_worker bigint, since timestamptz) returns setof bigint
language sql stable
  set enable_seqscan = off set enable_bitmapscan = off
as $$
  select j.id from sluice.job j
  where j.handed = in_worker and j.created_at > since and j.worker = in_worker and j.started_at = j.created_at $$;

-- A lone job, born as the claim of an idle process. Answers nothing when there is none, or when the job or its kind is not plain; then it goes the usual way.
create function sluice.enqueue_handed(in_kind text, in_payload jsonb, in_trace text) returns bigint
language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan set lock_timeout = '100ms'      -- whoever has the key may keep it for long, and the process should not wait with us
as $$
#variable_conflict use_column
declare
  at timestamptz := sluice.now();
  body text := in_payload::text;
  taker bigint;
  channel text;
  made record;
begin
  if octet_length(body) > 3500 then return null; end if;      -- a notification carries 8,000 bytes, and as a part of JSON it may become twice as long
  -- Of eight that would take it, however many there are, the first that is idle and has not been handed another just now: one that is frozen without being dead gets no more than one.
  -- The row is held until the commit: a rescue passes it by, an audit waits.
  select w.id, w.channel into taker, channel
  from sluice.worker w
  where w.id = (select c.id from (select c.id, c.channel from sluice.worker c where in_kind = any(c.takes) and c.lease_until > at limit 8) c
                where not (pg_try_advisory_lock_shared(1936487785, hashtext(c.channel)) and pg_advisory_unlock_shared(1936487785, hashtext(c.channel)))
                  and not exists (select from sluice.job j where j.handed = c.id and j.created_at > at - interval '5 s' and j.worker = c.id
                                                             and j.started_at = j.created_at)
                limit 1)
  for key share skip locked;
  if taker is null then return null; end if;
  at := sluice.now();      -- behind the lock: the fence of what an audit has not seen is above its own
  insert into sluice.job as j (kind, pool, cost, priority, rank, payload, key, max_attempts, created_at, trace, worker, handed, attempt, started_at, fence)
  select in_kind, k.pool, k.cost, k.priority, sluice.rank(at, k.priority, s.priority_step_ms), in_payload,
         case when k.dedupe is not null then sluice.dedupe_key(in_kind, null, null, body) end, k.max_attempts, at, in_trace, taker, taker, 1, at, date_part('epoch', at) * 1000000
  from sluice.kind k, sluice.setting s
  where k.name = in_kind and k.unique_for is null and k.lane is null and k.asks = '{}' and coalesce(k.dedupe, 'keep') = 'keep'
    and not exists (select from sluice.pause p where (p.scope, p.name) in (('kind', in_kind), ('pool', k.pool)))
  on conflict (key) where key is not null and shelf is distinct from 'failed' do nothing
  returning j.id, j.pool, j.fence, j.attempt, j.max_attempts, j.crashes, j.rank, j.priority into made;
  if made.id is not null then
    perform pg_notify(channel, json_build_array(taker, made.pool, made.id, made.fence, in_kind, body, made.attempt, made.max_attempts, made.crashes, made.rank, null, null,
                                                date_part('epoch', at) * 1000, null, null, made.priority, in_trace)::text);
  end if;
  return made.id;
end $$;
