-- Handing over: a process that runs nothing says so, and the next lone enqueue (0005) makes its job as a claim of that process, which hears of it with the commit. That saves the
-- wake-up of all others and the claim that would follow. What does not fit goes the usual way. docs/adr/0017 tells why it is safe.
-- "Idle" is an advisory lock that the process holds on the connection where it listens: nothing is written for it, and it is gone when the connection is. Its class are the
-- letters "slui", its number is a hash of the channel's name, which nobody can guess, for whoever listens there reads payloads.

-- A lone job, born as the claim of an idle process. Answers nothing when there is none, or when the job or its kind is not plain; then it goes the usual way.
create function sluice.enqueue_handed(in_kind text, in_payload jsonb, in_trace text) returns bigint
language plpgsql
  set plan_cache_mode = force_generic_plan
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
  -- Of eight that would take it, however many there are, the first that is idle. Its row is held until the commit: a rescue passes it by, an audit waits.
  select w.id, w.channel into taker, channel
  from sluice.worker w
  where w.id = (select c.id from (select c.id, c.channel from sluice.worker c where in_kind = any(c.takes) and c.lease_until > at limit 8) c
                where not pg_try_advisory_xact_lock_shared(1936487785, hashtext(c.channel)) limit 1)
  for key share skip locked;
  if taker is null then return null; end if;
  at := sluice.now();      -- behind the lock: the fence of what an audit has not seen is above its own
  insert into sluice.job as j (kind, pool, cost, state, priority, rank, payload, key, max_attempts, created_at, trace, worker, attempt, started_at, fence)
  select in_kind, k.pool, k.cost, 'running', k.priority, sluice.rank(at, k.priority, s.priority_step_ms), in_payload,
         case when k.dedupe is not null then sluice.dedupe_key(in_kind, null, null, body) end, k.max_attempts, at, in_trace, taker, 1, at, date_part('epoch', at) * 1000000
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

-- Jobs of the open lane that a process is said to run and that became ready since: those that were handed over to it are among them.
create function sluice.handed_since(in_worker bigint, pools text[], since timestamptz) returns bigint[]
language plpgsql stable
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off
as $$
declare
  -- Urgent kinds rank before their time.
  low bigint := date_part('epoch', since) * 1000 - 1000 - (select s.priority_step_ms::bigint * greatest(max(k.priority), 0)
                                                           from sluice.setting s, sluice.kind k where k.name = any(array(select unnest(w.kinds) from sluice.worker w where w.id = in_worker))
                                                           group by s.priority_step_ms);
begin
  return array(
    select j.id
    from unnest(pools) as p(pool)
    cross join lateral (
      select j.id from sluice.job j
      where j.shelf is null and sluice.queue_of(j.pool, j.lane) = sluice.queue_of(p.pool, '') and j.rank >= low and j.pool = p.pool and j.lane = '' and j.state = 'running' and j.worker = in_worker) j);
end $$;
