-- Schedules: a cron expression in a time zone that enqueues a job. docs/schedules.md has the rules.
-- The next fire is stored. Cron itself is worked out in TypeScript; what is fired, and that it is fired once, is decided here: the row must still be
-- as the leader saw it, its term must hold, and the job, the next fire and the count are one transaction.

create table sluice.schedule (
  name          text collate "C" primary key,
  kind          text collate "C" not null,
  payload       jsonb not null default '{}',
  options       jsonb not null default '{}',   -- fields of a row of sluice.enqueue_many: owner, priority, pool, max_attempts, key, mode …
  cron          text not null,
  zone          text not null default 'UTC',
  overlap       text not null default 'allow',
  catch_up      text not null default 'latest',
  deadline_ms   bigint,                        -- how late a fire may still start
  jitter_ms     integer not null default 0,
  paused_at     timestamptz,
  paused_reason text,
  next_at       timestamptz,                   -- null without an error: to be worked out by the leader
  last_at       timestamptz,                   -- the time of the last fire, as the expression says it
  last_job      bigint,
  fired         bigint not null default 0,
  skipped       bigint not null default 0,     -- fires without a job: missed, or kept back by `overlap`
  error         jsonb,
  version       bigint not null default 1,     -- rises with every change
  created_at    timestamptz not null default sluice.now(),
  constraint schedule_has_a_name check (length(name) between 1 and 200),
  constraint schedule_options_are_an_object check (jsonb_typeof(options) = 'object'),
  constraint schedule_overlap check (overlap in ('allow', 'forbid', 'replace')),
  constraint schedule_catch_up check (catch_up in ('none', 'latest', 'all')),
  constraint schedule_deadline check (deadline_ms > 0),
  constraint schedule_jitter check (jitter_ms between 0 and 86400000),
  constraint schedule_next_is_a_date check (isfinite(next_at)),
  constraint schedule_reason_of_a_pause check (paused_reason is null or paused_at is not null)
);
create index schedule_due on sluice.schedule (next_at) where paused_at is null;

-- Whoever changes a row, by hand too: its version rises, a new expression makes the next fire unknown unless the change names it, and the leader is told
-- when there is something earlier to do.
create function sluice.schedule_changes() returns trigger
language plpgsql
as $$
begin
  if tg_op = 'INSERT' or new.kind <> old.kind then
    if not exists (select from sluice.kind k where k.name = new.kind) then perform sluice.refuse_kind(new.kind); end if;
  end if;
  if tg_op = 'UPDATE' then
    new.version := old.version + 1;
    if (new.cron, new.zone) is distinct from (old.cron, old.zone) then
      new.error := null;
      if new.next_at is not distinct from old.next_at then new.next_at := null; end if;
    end if;
    if new.paused_at is not null or not (old.paused_at is not null or old.next_at is null or new.next_at < old.next_at
                                         or (new.next_at is null and new.error is null)) then
      return new;
    end if;
  end if;
  perform pg_notify('sluice', 'schedule:');
  return new;
end $$;
create trigger schedule_changes before insert or update on sluice.schedule for each row execute function sluice.schedule_changes();

-- What the leader has to do now, and when the first of the others falls due. Nothing for one that does not lead.
create function sluice.due_schedules(in_term bigint, batch integer, out leads boolean, out now_ms double precision, out next_ms double precision, out due jsonb)
language plpgsql
as $$
declare
  at timestamptz := sluice.now();
begin
  leads := sluice.leads(in_term);
  now_ms := date_part('epoch', at) * 1000;
  if not leads then return; end if;
  next_ms := (select date_part('epoch', min(s.next_at)) * 1000 from sluice.schedule s where s.paused_at is null and s.next_at > at);
  due := (select jsonb_agg(to_jsonb(d) order by d.next_at nulls first)
          from (select s.name, s.cron, s.zone, s.overlap, s.catch_up, s.deadline_ms, s.jitter_ms, s.version, s.next_at,
                       date_part('epoch', s.next_at) * 1000 as next_ms
                from sluice.schedule s
                where s.paused_at is null and (s.next_at <= at or (s.next_at is null and s.error is null))
                order by s.next_at nulls first
                limit batch) d);
end $$;

-- Enqueues the jobs of these fires, following the policy for overlap. `held` is the live job that forbids it.
-- A job without a key of its own gets one by schedule and time, so that the same fire cannot be there twice whatever is done to the row by hand. Where the
-- kind has rules for keys they hold here as well; a job that replaces one that still runs then waits for its end.
create function sluice.enqueue_scheduled(s sluice.schedule, fires timestamptz[], starts timestamptz[], out jobs bigint[], out existing integer[],
  out pools text[], out held bigint)
language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  live boolean := exists (select from sluice.job j where j.id = s.last_job and j.shelf is distinct from 'failed');
  own_mode text;
  named boolean;
begin
  if live and s.overlap = 'forbid' then
    held := s.last_job;
    return;
  end if;
  if live and s.overlap = 'replace' then
    perform sluice.cancel(array[s.last_job], format('replaced by the next job of schedule %s', s.name));
  end if;
  select coalesce(s.options ->> 'mode', k.dedupe, case when s.options ? 'key' then 'keep' end),
         s.options ?| array['key', 'mode', 'unique_ms'] or k.dedupe is not null or k.unique_for is not null
  into own_mode, named
  from sluice.kind k where k.name = s.kind;
  select m.ids, m.existing into jobs, existing
  from sluice.enqueue_many((
    select jsonb_agg(s.options || jsonb_build_object('kind', s.kind, 'payload', s.payload, 'run_at', f.start)
                     || case when not named then jsonb_build_object('mode', 'keep', 'key', 'schedule/' || s.name || '@'
                                                                    || to_char(f.fire at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))
                             when own_mode = 'keep' and s.overlap = 'replace' then '{"mode": "again"}'
                             else '{}' end
                     order by f.fire)
    from unnest(fires, starts) as f(fire, start)), true) m;
  pools := array(select distinct j.pool from sluice.job j where j.id = any(jobs) and sluice.state_of(j.shelf, j.worker) = 'ready');
end $$;

-- One schedule, one step: enqueues the fires that the leader worked out and moves on to the next, or stores why it cannot. Answers 'stale' and does nothing
-- when the term is over or the row is no longer what the leader saw: somebody else was quicker. It waits for nobody's open transaction: the next round tries again,
-- and other schedules do not wait with it.
create function sluice.fire_schedule(in_term bigint, in_name text, in_version bigint, in_next_at timestamptz, fires timestamptz[], starts timestamptz[],
  missed integer, then_at timestamptz, problem jsonb, out outcome text, out jobs bigint[], out pools text[])
language plpgsql
  set lock_timeout = '500ms'
as $$
declare
  s sluice.schedule;
  made record;
  enqueued integer := cardinality(fires);
begin
  outcome := 'stale';
  if not sluice.leads(in_term) then return; end if;
  select * into s from sluice.schedule c
  where c.name = in_name and c.version = in_version and c.next_at is not distinct from in_next_at and c.paused_at is null
  for update;
  if not found then return; end if;
  -- Locked, then looked: the leader before us may have held the row until now.
  if not sluice.leads(in_term) then return; end if;
  outcome := 'moved';
  if enqueued > 0 then
    select * into made from sluice.enqueue_scheduled(s, fires, starts);
    outcome := case when made.held is null then 'fired' else 'held' end;
    if made.held is not null then enqueued := 0; end if;
    jobs := made.jobs;
    pools := made.pools;
  end if;
  update sluice.schedule c
  set next_at = then_at,
      last_at = case when enqueued > 0 then fires[cardinality(fires)] else c.last_at end,
      last_job = coalesce(jobs[cardinality(jobs)], c.last_job),
      fired = c.fired + enqueued,
      skipped = c.skipped + missed + cardinality(fires) - enqueued,
      error = problem
  where c.name = in_name;
end $$;

-- A fire by hand: at once, paused or not, following the policy for overlap. The next fire stays where it is. No row: no such schedule.
create function sluice.run_schedule(in_name text) returns table (id bigint, created boolean)
language plpgsql
as $$
declare
  at timestamptz := sluice.now();
  s sluice.schedule;
  made record;
begin
  select * into s from sluice.schedule c where c.name = in_name for update;
  if not found then return; end if;
  select * into made from sluice.enqueue_scheduled(s, array[at], array[at]);
  if made.held is null then
    update sluice.schedule c set last_job = made.jobs[1], fired = c.fired + 1 where c.name = in_name;
  end if;
  return query select coalesce(made.held, made.jobs[1]), made.held is null and made.existing is null;
end $$;
