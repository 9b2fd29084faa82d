-- For processes whose role owns nothing: what only the owner of the tables can do, and how such a role is let in.

-- A day past keeping, for a role that owns nothing. In a transaction it cannot be detached concurrently: settles wait while this waits for a reader, so it soon gives up.
create function sluice.drop_day(old_day text, keep_days integer) returns void
language plpgsql security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  day record;
begin
  perform set_config('lock_timeout', '500ms', true);
  for day in select o.parent, o.partition, o.phase from sluice.old_days(greatest(keep_days, 1)) o where o.partition = old_day loop
    if day.phase = 'pending' then execute format('alter table sluice.%I detach partition sluice.%I finalize', day.parent, day.partition); end if;
    execute format('drop table sluice.%I', day.partition);
  end loop;
end $$;

-- What is done with the owner's rights is for those who were let in.
revoke execute on function sluice.add_days(date, integer), sluice.drop_day(text, integer) from public;

-- Lets a role work here that owns nothing: for the role of an application, where another one migrates. To be called by the owner; what later migrations make is included.
-- Packages that stand on the engine may have a schema of their own.
create function sluice.admit(role text, in_schema text default 'sluice') returns void
language plpgsql
as $$
declare
  rights text;
  things text;
  owner_role name := (select n.nspowner::regrole::text from pg_namespace n where n.nspname = in_schema);
begin
  if owner_role is null then
    perform sluice.refuse('SL002', format('there is no schema "%s"', in_schema), 'Give sluice, or the one of a package that stands on it.');
  end if;
  if not pg_has_role((select n.nspowner from pg_namespace n where n.nspname = in_schema), 'usage') then
    perform sluice.refuse('SL002', format('only %s, who owns the schema %s, can let somebody in', owner_role, in_schema), 'Call it as that role.');
  end if;
  execute format('grant usage on schema %I to %I', in_schema, role);
  for rights, things in values ('select, insert, update, delete', 'tables'), ('usage', 'sequences'), ('execute', 'functions') loop
    execute format('grant %s on all %s in schema %I to %I', rights, things, in_schema, role);
    execute format('alter default privileges in schema %I grant %s on %s to %I', in_schema, rights, things, role);
  end loop;
end $$;
