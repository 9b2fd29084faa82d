-- Lanes and owners in somebody's hand. Claims and settles hold them for milliseconds and are waited for; a transaction that somebody keeps open is not, so that it holds up nothing but its own lanes.

-- adopt_lanes, waiting for other claims but for nobody else. Answers those that are not to be had: they are being made in a transaction that is still open.
create function sluice.adopt_free_lanes(keys text[]) returns text[]
language plpgsql
  set lock_timeout = '20ms'
as $$
declare
  one text;
  rest text[] := '{}';
begin
  begin
    perform sluice.adopt_lanes(keys);
    return rest;
  exception when lock_not_available then
    perform set_config('lock_timeout', '1ms', true);      -- one by one, to find out which
  end;
  foreach one in array keys loop
    begin
      perform sluice.adopt_lanes(array[one]);
    exception when lock_not_available then
      rest := rest || one;
    end;
  end loop;
  return rest;
end $$;

-- Those of the lanes for which leave_lanes would have to wait now. The others are held from here on, as leave_lanes holds them: owners with a cap first, for other lanes of
-- theirs may wait for these.
create function sluice.busy_lanes(keys text[]) returns text[]
language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  capped text[] := array(select o.name from sluice.owner o where o.cap is not null and o.name = any(array(select l.owner from sluice.lane l where l.key = any(keys))));
  owners text[] := array(select o.name from sluice.owner o where o.name = any(capped) order by o.name for no key update skip locked);
  others text[] := array(select l.key from sluice.lane l where l.owner = any(capped) and l.shut);
  lanes text[] := array(select l.key from sluice.lane l where l.key = any(keys || others) order by l.key for no key update skip locked);
begin
  return array(select l.key from sluice.lane l
               where l.key = any(keys)
                 and (l.key <> all(lanes)
                      or (l.owner = any(capped) and (l.owner <> all(owners) or exists (select from sluice.lane s where s.owner = l.owner and s.key = any(others) and s.key <> all(lanes))))));
end $$;

-- Owners before lanes, each in order, as a settle goes: so this may wait for them, but not for somebody who thinks about it in an open transaction. Answers what it holds:
-- lanes, and their owners.
create function sluice.hold_lanes(keys text[], out had text[], out owners text[])
language plpgsql
  set lock_timeout = '50ms'
as $$
declare
  wanted text[] := array(select o.name from sluice.owner o where o.name = any(array(select l.owner from sluice.lane l where l.key = any(keys))));
begin
  -- Mostly nobody else is there, and nothing has to be undone.
  owners := array(select o.name from sluice.owner o where o.name = any(wanted) order by o.name for no key update skip locked);
  had := array(select l.key from sluice.lane l where l.key = any(keys) order by l.key for no key update skip locked);
  if cardinality(owners) < cardinality(wanted) or cardinality(had) < cardinality(keys) then
    begin
      perform from sluice.owner o where o.name = any(wanted) order by o.name for no key update;
      perform from sluice.lane l where l.key = any(keys) order by l.key for no key update;
      owners := wanted;
      had := keys;
    exception when lock_not_available or deadlock_detected then
      null;      -- what was free is ours
    end;
  end if;
end $$;

-- The session that keeps a transaction open over a row, which is known by whoever locked the row last: its xmax. What has not been open for a second is a claim or a settle,
-- unless it kept somebody waiting.
create function sluice.held_by(locker xid, at_least interval default '1 s') returns jsonb
language sql volatile
as $$
  select jsonb_build_object('pid', a.pid, 'application', coalesce(a.application_name, ''), 'since', a.xact_start)
  from pg_locks l join pg_stat_activity a on a.pid = l.pid
  where l.locktype = 'transactionid' and l.granted and l.transactionid = locker and a.xact_start < clock_timestamp() - at_least
  limit 1 $$;

-- One more code of ours: SL007 somebody's open transaction stands in the way. Without a holder it is one that cannot be seen from here.
create function sluice.refuse_held(what text, holder jsonb) returns text
language sql volatile
as $$
  select case when holder is null then sluice.refuse('SL007', what || ' is in an open transaction', 'Try again when it is over.')
              else sluice.refuse('SL007', format('%s is in an open transaction of session %s (%s, since %s)', what, holder ->> 'pid',
                                                 coalesce(nullif(holder ->> 'application', ''), 'no name'), left(holder ->> 'since', 19)),
                                 format('Let it commit or roll back, or end it: select pg_terminate_backend(%s); then try again.', holder ->> 'pid')) end $$;

-- What a server said of a lane, from outside of a job.
create function sluice.sync_lane(in_key text, said jsonb) returns void
language plpgsql
  set lock_timeout = '3s'
as $$
begin
  perform sluice.adopt_lanes(array[in_key]);
  perform sluice.leave_lanes(array[row(in_key, 0, 0, 0, 0, 0)::sluice.lane_change], said);
exception when lock_not_available then
  perform sluice.refuse_held(format('lane "%s"', in_key), (select sluice.held_by(l.xmax, '0') from sluice.lane l where l.key = in_key));
end $$;
