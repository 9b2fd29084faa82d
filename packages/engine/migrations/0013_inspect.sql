-- Reading for people. No list here costs more with a million jobs than with a thousand: each goes down one index, newest first, and looks at no more than
-- `look` rows for a page. What fits too rarely gives a page that is short, and says how far it looked and where to go on. Nothing is counted without a limit.
--
-- Reading must not slow down work, so `job` gets no index for it. What the ledger gets:
--   failed, canceled  rows that a settle which goes well never writes: it pays for the look at the predicate.
--   tree              one entry for each job that has an ancestor, but for those that the first job of a run or its finalizer brought about: these got their ids
--                     together, and the run knows from which to which. An entry takes 1.2 to 2 us of the 11 to 12 of a settle. It finds a tree, and a run as
--                     well: the jobs of a run are the trees of its root and of its finalizer, so that an index by run would say the same thing twice.

create index job_ledger_failed on sluice.job_ledger (id) where state = 'failed';
create index job_ledger_canceled on sluice.job_ledger (id) where state = 'canceled';
create index job_ledger_tree on sluice.job_ledger (root, id) where root is not null and (run is null or parent <> root);
create index run_by_kind on sluice.run (kind, id);
create index run_by_owner on sluice.run (owner, id) where owner is not null;
create index run_by_state on sluice.run (state, id);

-- What an error has in common with its kin: quoted words, ids, hex and numbers are masked. Only the beginning counts.
create function sluice.mask_error(message text) returns text
language sql immutable parallel safe
as $$
  select regexp_replace(regexp_replace(left(message, 300),
    '"[^"]*"|`[^`]*`|(?<![[:alnum:]])''[^'']*''(?![[:alnum:]])', '"…"', 'g'),
    '\m(?:[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|0x[0-9a-fA-F]+|(?=[a-fA-F]*[0-9])[0-9a-fA-F]{7,}|(?=\w*[0-9])\w{16,})\M|[0-9]+(?:[.,:][0-9]+)*', '#', 'g') $$;

-- The group of a dead letter, worked out once, by whoever lets the job die: thousands of them can then be grouped without a look at their stacks.
create function sluice.error_fingerprint(kind text, error jsonb) returns text
language sql immutable parallel safe
as $$ select left(md5(jsonb_build_array(kind, error ->> 'code', sluice.mask_error(coalesce(error ->> 'message', '')))::text), 16) $$;

-- Live and finished jobs as one. What was claimed and handed back at once has not started. `shelf` and `live` let a list say which of the two it wants in words that indexes understand.
create view sluice.any_job as
select j.id, j.kind, j.pool, j.lane, j.owner, sluice.state_of(j.shelf, j.worker) as state, j.priority, j.payload, j.key, j.parent, j.root, j.run, j.event, j.attempt, j.max_attempts, j.crashes, j.worker,
       nullif(j.run_at, 'infinity') as run_at, j.created_at, case when j.attempt > 0 then j.started_at end as started_at, null::timestamptz as finished_at, j.cancel_at, j.error, j.trace, j.fingerprint, j.shelf, true as live
from sluice.job j
union all
select l.id, l.kind, l.pool, l.lane, l.owner, l.state, l.priority, l.payload, l.key, l.parent, l.root, l.run, l.event, l.attempt, null::smallint, 0::smallint, l.worker,
       null::timestamptz, l.created_at, l.started_at, l.finished_at, null::timestamptz, l.error, l.trace, null, l.state, false
from sluice.job_ledger l;

-- From which id to which the children of a run's first job or finalizer lie; null for every other job. All that came of these children has a higher id.
create function sluice.children_of(top bigint) returns int8range
language sql stable
  set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
  select case top when r.root_job then r.root_children when r.finalizer_job then r.finalizer_children end
  from sluice.run r where r.id = (select j.run from sluice.any_job j where j.id = top) $$;

-- Jobs that run. They lie among those that are ready, at the head of their pool and lane, because claims go in that order; so it steps from lane to lane and
-- looks at the first few of each, at `look` in all. `cut` says that it stopped before the last lane.
create function sluice.running_jobs(look integer, out ids bigint[], out looked integer, out cut boolean)
language plpgsql stable
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off set plan_cache_mode = force_generic_plan
as $$
declare
  queue bigint := -9223372036854775808;
  at_lane text;
  head bigint[];
  n integer;
begin
  select coalesce(array_agg(m.id) filter (where m.worker is not null), '{}'), count(*) into ids, looked
  from (select m.id, m.worker
        from sluice.pools_of_parcels() as n(pool)
        cross join lateral (
          select j.id, j.worker
          from (select p.id, p.first, p.last from sluice.parcel p where p.pool = n.pool order by p.rank, p.id offset 0) p
          cross join lateral (select j.id, j.worker from sluice.job j where j.id between p.first and p.last and j.parcel = p.id order by j.id) j
          limit 2000) m
        limit look / 2) m;
  loop
    select sluice.queue_of(j.pool, j.lane), j.lane into queue, at_lane from sluice.job j
    where j.shelf is null and j.parcel is null and sluice.queue_of(j.pool, j.lane) > queue order by sluice.queue_of(j.pool, j.lane), j.rank, j.id limit 1;
    cut := found and looked >= look;
    exit when not found or cut;
    select coalesce(array_agg(q.id) filter (where q.worker is not null), '{}'), count(*) into head, n
    from (select j.id, j.worker from sluice.job j where j.shelf is null and j.parcel is null and sluice.queue_of(j.pool, j.lane) = queue order by j.rank, j.id
          limit least(case when at_lane = '' then 2000 else 100 end, look - looked)) q;
    ids := ids || head;
    looked := looked + n;
  end loop;
end $$;

-- One page of jobs, newest first. Rows with a job are the page; the last row has none and says how many rows were looked at, when the last of them was made,
-- if there are more, and before which id the next page begins (null: nothing is left). `look` bounds the rows; payloads are bounded in bytes, those that a search reads and those
-- that are answered. Rows are fetched one by one, so that a page which is soon full looks at little.
-- `trees` are looked through one after the other, each from its youngest member to its root: what the index of trees has, then the children that lie
-- together, then the root. A range of one root, not an equality, is what makes the planner take the index of trees: with an equality any index by id has the
-- right order, and it would walk a day of strangers.
create function sluice.list_jobs(filter jsonb, before bigint, page integer, look integer)
returns table (job sluice.any_job, looked integer, looked_until timestamptz, next bigint)
language plpgsql stable
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off set plan_cache_mode = force_generic_plan
as $$
declare
  states sluice.job_state[] := (select array_agg(s::sluice.job_state) from jsonb_array_elements_text(filter -> 'states') as s);
  in_kind text := filter ->> 'kind';
  in_pool text := filter ->> 'pool';
  in_lane text := filter ->> 'lane';
  of_owner text := filter ->> 'owner';
  of_run bigint := filter ->> 'run';
  of_tree bigint := filter ->> 'tree';
  with_error text := filter ->> 'error';
  with_payload jsonb := filter -> 'payload';
  only_live boolean := coalesce((filter ->> 'live')::boolean, false);   -- not those that were discarded
  answer_bytes_max constant integer := 8388608;
  search_bytes_max constant integer := 67108864;
  trees bigint[] := case when of_tree is not null then array[of_tree]
                         when of_run is not null then (select array_remove(array[r.finalizer_job, r.root_job], null) from sluice.run r where r.id = of_run) end;
  top bigint;
  part text;
  children int8range;
  running record;
  rows refcursor;
  one sluice.any_job;
  found_jobs integer := 0;
  answer_bytes bigint := 0;
  search_bytes bigint := 0;
begin
  looked := 0;
  before := coalesce(before, 9223372036854775807);
  if of_tree is not null or of_run is not null then
    open rows for select j.* from sluice.any_job j where false;
  elsif states = '{failed}' and (with_error is not null or only_live) then
    open rows for select j.* from sluice.any_job j where j.live and j.shelf = 'failed' and j.id < before order by j.id desc;
  elsif states = '{failed}' then
    open rows for select j.* from sluice.any_job j where j.shelf = 'failed' and j.id < before order by j.id desc;
  elsif states = '{canceled}' then
    open rows for select j.* from sluice.any_job j where not j.live and j.shelf = 'canceled' and j.id < before order by j.id desc;
  elsif states = '{running}' then
    select * into running from sluice.running_jobs(look);
    open rows for select j.* from sluice.any_job j where j.live and j.id = any(running.ids) and j.id < before order by j.id desc;
  elsif states <@ '{scheduled,ready,paused,running}' then
    open rows for select j.* from sluice.any_job j where j.live and j.id < before order by j.id desc;
  elsif states <@ '{succeeded,canceled}' then
    open rows for select j.* from sluice.any_job j where not j.live and j.id < before order by j.id desc;
  else
    open rows for select j.* from sluice.any_job j where j.id < before order by j.id desc;
  end if;
  loop
    fetch rows into one;
    if not found then
      exit when coalesce(part, 'root') = 'root' and coalesce(trees, '{}') = '{}';
      close rows;
      part := case part when 'below' then 'children' when 'children' then 'root' else 'below' end;
      if part = 'below' then
        top := trees[1];
        trees := trees[2:];
        children := sluice.children_of(top);
        open rows for select j.* from sluice.any_job j
                      where j.root >= top and (j.root, j.id) < (top, before) and (j.root, j.id) >= (top, coalesce(upper(children), 0))
                        and (j.run is null or j.parent <> j.root)
                      order by j.root desc, j.id desc;
      elsif part = 'children' then
        open rows for select j.* from sluice.any_job j where j.id >= lower(children) and j.id < least(upper(children), before) order by j.id desc;
      else
        open rows for select j.* from sluice.any_job j where j.id = top and j.id < before;
      end if;
      continue;
    end if;
    if found_jobs >= page or looked >= look or answer_bytes > answer_bytes_max or search_bytes > search_bytes_max then
      next := before;
      exit;
    end if;
    looked := looked + 1;
    before := one.id;
    looked_until := one.created_at;
    if with_payload is not null then search_bytes := search_bytes + pg_column_size(one.payload); end if;
    continue when part = 'children' and one.parent is distinct from top;
    if (one.live or not only_live) and (states is null or one.state = any(states)) and (in_kind is null or one.kind = in_kind) and (in_pool is null or one.pool = in_pool)
       and (in_lane is null or one.lane = in_lane) and (of_owner is null or one.owner = of_owner) and (of_run is null or one.run = of_run)
       and (with_error is null or one.fingerprint = with_error) and (with_payload is null or one.payload @> with_payload) then
      found_jobs := found_jobs + 1;
      answer_bytes := answer_bytes + octet_length(one.payload::text);
      job := one;
      return next;
    end if;
  end loop;
  close rows;
  job := null;
  if states = '{running}' and coalesce(trees, '{}') = '{}' and of_run is null and of_tree is null then
    looked := running.looked;
    if next is null and not running.cut then looked_until := null; end if;
  elsif next is null then
    looked_until := null;
  end if;
  return next;
end $$;

-- The same for runs.
create function sluice.list_runs(filter jsonb, before bigint, page integer, look integer)
returns table (run sluice.run, looked integer, looked_until timestamptz, next bigint)
language plpgsql stable
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off set plan_cache_mode = force_generic_plan
as $$
declare
  states text[] := (select array_agg(s) from jsonb_array_elements_text(filter -> 'states') as s);
  of_kind text := filter ->> 'kind';
  of_owner text := filter ->> 'owner';
  rows refcursor;
  one sluice.run;
  found_runs integer := 0;
begin
  looked := 0;
  before := coalesce(before, 9223372036854775807);
  if of_owner is not null then
    open rows for select r.* from sluice.run r where r.owner >= of_owner and (r.owner, r.id) < (of_owner, before) order by r.owner desc, r.id desc;
  elsif of_kind is not null then
    open rows for select r.* from sluice.run r where r.kind >= of_kind and (r.kind, r.id) < (of_kind, before) order by r.kind desc, r.id desc;
  elsif cardinality(states) = 1 then
    open rows for select r.* from sluice.run r where r.state >= states[1] and (r.state, r.id) < (states[1], before) order by r.state desc, r.id desc;
  else
    open rows for select r.* from sluice.run r where r.id < before order by r.id desc;
  end if;
  loop
    fetch rows into one;
    exit when not found;
    if found_runs >= page or looked >= look then
      next := before;
      exit;
    end if;
    looked := looked + 1;
    before := one.id;
    looked_until := one.created_at;
    if (of_kind is null or one.kind = of_kind) and (of_owner is null or one.owner = of_owner) and (states is null or one.state = any(states)) then
      found_runs := found_runs + 1;
      run := one;
      return next;
    end if;
  end loop;
  close rows;
  run := null;
  if next is null then looked_until := null; end if;
  return next;
end $$;

-- Lanes by name. `in_closed` asks for those that start nothing now (true) or may (false).
create function sluice.list_lanes(of_owner text, in_closed boolean, after text, page integer, look integer)
returns table (l sluice.lane, o sluice.owner, looked integer, next text)
language plpgsql stable
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off set plan_cache_mode = force_generic_plan
as $$
declare
  at timestamptz := sluice.now();
  rows refcursor;
  found_lanes integer := 0;
begin
  looked := 0;
  if of_owner is not null then
    open rows for select x.* from sluice.lane x where x.owner <= of_owner and (x.owner, x.key) > (of_owner, after) order by x.owner, x.key;
  else
    open rows for select x.* from sluice.lane x where x.key > after order by x.key;
  end if;
  loop
    fetch rows into l;
    exit when not found;
    if found_lanes >= page or looked >= look then
      next := after;
      exit;
    end if;
    looked := looked + 1;
    after := l.key;
    select x.* into o from sluice.owner x where x.name = l.owner;
    if in_closed is null or in_closed = (sluice.room(l, o, at) < 1 or sluice.permits(l, at) < 1) then
      found_lanes := found_lanes + 1;
      return next;
    end if;
  end loop;
  close rows;
  l := null;
  o := null;
  return next;
end $$;

-- Owners by name: those with limits of their own and those with lanes. One step of two indexes for each, however many lanes they have.
create function sluice.list_owners(after text, page integer) returns table (name text, cap integer, hold_until timestamptz, paused text, in_flight integer, lanes integer)
language plpgsql stable
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  for step in 1..page loop
    after := least((select o.name from sluice.owner o where o.name > after order by o.name limit 1),
                   (select l.owner from sluice.lane l where l.owner > after order by l.owner, l.key limit 1));
    exit when after is null;
    name := after;
    select o.cap, o.hold_until, o.paused into cap, hold_until, paused from sluice.owner o where o.name = after;
    select coalesce(sum(x.in_flight), 0), count(*) into in_flight, lanes
    from (select l.in_flight from sluice.lane l where l.owner = after limit 1000) x;
    return next;
  end loop;
end $$;
