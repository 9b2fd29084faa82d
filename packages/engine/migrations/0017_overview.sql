-- What people see at a glance: dead letters by group, the tree of a run and how far it is, counts that end at a limit. As in 0013, nothing here grows with the tables.

-- Dead letters by what they have in common, the group with the newest first. Looks at the newest `look` of them; the last row has no group and says how many
-- those were, when the oldest of them was made if there are more, and before which id of a group's newest job the next page begins.
create function sluice.dead_letters(before bigint, page integer, look integer)
returns table (fingerprint text, kind text, code text, message text, jobs integer, newest bigint, first_at timestamptz, last_at timestamptz,
               looked integer, looked_until timestamptz, next bigint)
language plpgsql stable
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  groups integer := 0;
  oldest bigint;
begin
  before := coalesce(before, 9223372036854775807);
  select count(*), min(s.id) into looked, oldest
  from (select j.id from sluice.job j where j.shelf = 'failed' order by j.id desc limit look) s;
  for fingerprint, kind, jobs, newest, first_at, last_at in
    select s.fingerprint, min(s.kind), count(*), max(s.id), min(s.at), max(s.at)
    from (select j.id, j.kind, j.fingerprint, coalesce(j.started_at, j.created_at) as at
          from sluice.job j where j.shelf = 'failed' order by j.id desc limit look) s
    group by s.fingerprint
    having max(s.id) < before
    order by 4 desc
    limit page + 1
  loop
    if groups >= page then
      next := before;
      exit;
    end if;
    groups := groups + 1;
    before := newest;
    -- The only error of the group that is read.
    select e.code, left(e.message, 1000) into code, message
    from sluice.job j cross join lateral jsonb_to_record(coalesce(j.error, '{}')) as e(code text, message text)
    where j.id = newest;
    return next;
  end loop;
  fingerprint := null;
  looked_until := (select j.created_at from sluice.job j
                   where j.id = oldest and exists (select from sluice.job o where o.shelf = 'failed' and o.id < oldest));
  return next;
end $$;

-- The jobs of a run in the order they were made, ancestors before what came of them: first the tree of its root, then that of its finalizer (`part` 1), each
-- after the place where the last page ended. Of each tree the root, then the children that lie together, then what the index of trees has.
create function sluice.run_tree(in_run bigint, in_part integer, after bigint, page integer) returns table (part integer, job sluice.any_job)
language plpgsql stable
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off set plan_cache_mode = force_generic_plan
as $$
declare
  roots bigint[] := (select array[r.root_job, r.finalizer_job] from sluice.run r where r.id = in_run);
  children int8range;
  top bigint;
  n integer;
begin
  for part in in_part..1 loop
    top := roots[part + 1];
    continue when top is null;
    return query select part, j from sluice.any_job j where j.id = top and j.id > after;
    get diagnostics n = row_count;
    page := page - n;
    children := sluice.children_of(top);
    return query
    select part, j from sluice.any_job j where j.id >= greatest(lower(children), after + 1) and j.id < upper(children) and j.parent = top order by j.id limit page;
    get diagnostics n = row_count;
    page := page - n;
    exit when page <= 0;
    return query
    select part, j from sluice.any_job j
    where j.root <= top and (j.root, j.id) > (top, greatest(after, upper(children) - 1)) and (j.run is null or j.parent <> j.root)
    order by j.root, j.id limit page;
    get diagnostics n = row_count;
    page := page - n;
    exit when page <= 0;
    after := 0;
  end loop;
end $$;

-- How many jobs of a run are in which state, by kind, among its newest `look`.
create function sluice.count_run(in_run bigint, look integer) returns table (kind text, state sluice.job_state, jobs integer, oldest timestamptz)
language sql stable
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off
as $$
  select x.kind, x.state, count(*)::integer, min(x.created_at)
  from sluice.run r
  cross join lateral (
    select s.kind, s.state, s.created_at
    from unnest(array[r.finalizer_job, r.root_job], array[r.finalizer_children, r.root_children]) as t(root, children)
    cross join lateral (
      (select j.kind, j.state, j.created_at from sluice.any_job j
       where j.root >= t.root and (j.root, j.id) <= (t.root, 9223372036854775807) and (j.root, j.id) >= (t.root, coalesce(upper(t.children), 0))
         and (j.run is null or j.parent <> j.root)
       order by j.root desc, j.id desc limit look)
      union all
      (select j.kind, j.state, j.created_at from sluice.any_job j where j.id >= lower(t.children) and j.id < upper(t.children) and j.parent = t.root
       order by j.id desc limit look)
      union all select j.kind, j.state, j.created_at from sluice.any_job j where j.id = t.root) s
    limit look) x
  where r.id = in_run
  group by x.kind, x.state $$;

-- How much there is to do, in bounded numbers: one more than `most` stands for "more".
create function sluice.count_jobs(most integer) returns table (state sluice.job_state, jobs integer, more boolean)
language plpgsql stable
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off set plan_cache_mode = force_generic_plan
as $$
declare
  seen integer;
begin
  return query select 'scheduled'::sluice.job_state, least(count(*), most)::integer, count(*) > most
               from (select from sluice.job j where j.shelf = 'scheduled' limit most + 1) x;
  return query select 'paused'::sluice.job_state, least(count(*), most)::integer, count(*) > most
               from (select from sluice.job j where j.shelf = 'paused' limit most + 1) x;
  return query select 'failed'::sluice.job_state, least(count(*), most)::integer, count(*) > most
               from (select from sluice.job j where j.shelf = 'failed' limit most + 1) x;
  -- Those that are ready and those that run lie together.
  return query with queue as materialized (select sluice.state_of(null, j.worker) as state from sluice.queued j limit most + 1)
               select s.state, (count(q.state))::integer, (select count(*) from queue) > most
               from unnest(array['ready', 'running']::sluice.job_state[]) as s(state) left join queue q on q.state = s.state
               group by s.state;
end $$;

-- Pools that kinds, processes, pauses or ready jobs name. `since` is how long the job that is next in line has been ready: in the open lane, or among the first hundred
-- turns of lanes.
create function sluice.list_pools(most integer)
returns table (name text, workers integer, core integer, max integer, running integer, ready integer, more boolean, job bigint, since timestamptz)
language plpgsql stable
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off set plan_cache_mode = force_generic_plan
as $$
declare
  one text;
  at timestamptz := sluice.now();
  step_ms bigint := (select s.priority_step_ms from sluice.setting s);
begin
  for one in
    select k.pool from sluice.kind k
    union select p.name from sluice.worker w cross join lateral jsonb_object_keys(w.pools) as p(name) where w.lease_until > at
    union select p.name from sluice.pause p where p.scope = 'pool'
    -- those that only jobs name, one step of the index for each
    union (with recursive q(name) as (
             (select j.pool from sluice.job j where j.shelf is null and j.parcel is null order by sluice.queue_of(j.pool, j.lane), j.rank, j.id limit 1)
             union all
             select (select j.pool from sluice.job j where j.shelf is null and j.parcel is null and sluice.queue_of(j.pool, j.lane) > sluice.pool_to(q.name) order by sluice.queue_of(j.pool, j.lane), j.rank, j.id limit 1)
             from q where q.name is not null)
           select q.name from q where q.name is not null)
    union select sluice.pools_of_parcels()
    order by 1
  loop
    name := one;
    select count(*), sum((w.pools -> one ->> 'core')::integer), sum((w.pools -> one ->> 'max')::integer), sum((w.running ->> one)::integer)
    into workers, core, max, running
    from sluice.worker w where w.lease_until > at and w.pools ? one;
    select count(*) filter (where q.worker is null), count(*) > most into ready, more
    from (select j.worker from sluice.queued j where sluice.queue_of(j.pool, j.lane) between sluice.pool_from(one) and sluice.pool_to(one) and j.pool = one limit most + 1) q;
    select h.id, to_timestamp((h.rank + h.priority * step_ms) / 1000.0) into job, since
    from ((select j.id, j.rank, j.priority from sluice.job j
           where j.shelf is null and j.parcel is null and sluice.queue_of(j.pool, j.lane) = sluice.queue_of(one, '') and j.pool = one and j.lane = '' and j.worker is null order by j.rank, j.id limit 1)
          union all
          select m.id, m.rank, m.priority from sluice.first_in_parcels(one) m
          union all
          select f.id, f.rank, f.priority
          from (select distinct t.lane from (select t.lane from sluice.turn t where t.pool = one and t.open order by t.served_at, t.id limit 100) t) t
          cross join lateral (select j.id, j.rank, j.priority from sluice.job j
                              where j.shelf is null and j.parcel is null and sluice.queue_of(j.pool, j.lane) = sluice.queue_of(one, t.lane) and j.pool = one and j.lane = t.lane and j.worker is null order by j.rank, j.id limit 1) f) h
    order by h.rank + h.priority * step_ms limit 1;
    return next;
  end loop;
end $$;

create function sluice.count_runs(most integer) returns table (state text, runs integer, more boolean)
language sql stable
  set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
  select s.state, least(c.n, most)::integer, c.n > most
  from unnest(array['created', 'running', 'finalizing', 'completed', 'failed', 'canceled']) as s(state)
  cross join lateral (select count(*) as n from (select from sluice.run r where r.state = s.state limit most + 1) x) c $$;

-- Jobs that run, as the table says, in a process that has no row: what a sweep of the leader looks for. Among the first `look` entries of the queue, and as many jobs in parcels.
create function sluice.count_orphans(look integer, out jobs integer, out more boolean)
language sql stable
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off
as $$
  select count(*) filter (where q.worker is not null and not exists (select from sluice.worker w where w.id = q.worker))::integer, count(*) filter (where q.packed) > look or count(*) filter (where not q.packed) > look
  from ((select j.worker, false as packed from sluice.job j where j.shelf is null and j.parcel is null order by sluice.queue_of(j.pool, j.lane), j.rank, j.id limit look + 1)
        union all
        (select m.worker, true
         from (select p.id, p.first, p.last from sluice.parcel p order by p.pool, p.rank, p.id offset 0) p
         cross join lateral (select j.worker from sluice.job j where j.id between p.first and p.last and j.parcel = p.id order by j.id) m
         limit look + 1)) q $$;
