-- Answers to POST requests that came with an Idempotency-Key, so that a repetition gets the first answer and does nothing. docs/http-api.md has the rules.

create table sluice.idempotency (
  caller  text collate "C" not null,
  key     text collate "C" not null,
  request bytea not null check (octet_length(request) = 32),   -- SHA-256 of method, address and body
  fence   bigint not null,                                     -- of whoever took the key; by the clock, so that it never comes again
  until   timestamptz not null,                                -- under way: when another one may take over; answered: when it is forgotten
  status  smallint,                                            -- null while it is under way
  headers jsonb,
  answer  text,
  primary key (caller, key)
) with (fillfactor = 70);
create index idempotency_until on sluice.idempotency (until);

-- One statement decides who acts: the first, or the first after a process that died with it. Everybody else reads what is there. Whoever comes also
-- sweeps up a few that are over, so that nobody has to come by for it.
create function sluice.begin_request(in_caller text, in_key text, in_request bytea, under_way interval,
  out mine boolean, out fence bigint, out same boolean, out status smallint, out headers jsonb, out answer text)
language plpgsql
as $$
#variable_conflict use_column
declare
  at timestamptz := sluice.now();
begin
  delete from sluice.idempotency i
  where (i.caller, i.key) in (select o.caller, o.key from sluice.idempotency o where o.until < at order by o.until limit 10 for update skip locked);

  insert into sluice.idempotency as i (caller, key, request, until, fence)
  values (in_caller, in_key, in_request, at + under_way, extract(epoch from clock_timestamp()) * 1000000)
  on conflict (caller, key) do update
  set request = excluded.request, until = excluded.until, status = null, headers = null, answer = null, fence = greatest(i.fence + 1, excluded.fence)
  where i.until < at
  returning i.fence into begin_request.fence;
  mine := found;
  if mine then
    same := true;
    return;
  end if;
  select i.request = in_request, i.status, i.headers, i.answer
  into begin_request.same, begin_request.status, begin_request.headers, begin_request.answer
  from sluice.idempotency i
  where i.caller = in_caller and i.key = in_key;
end $$;
