-- Access: who may come in, who is in, and who did what. docs/access.md has the rules.

-- Keys. The secret is nowhere: what is stored is its SHA-256. It has 256 random bits, which nobody guesses, so a slow hash would slow down every call
-- and protect nothing. Keys are revoked, not deleted: what they did stays told by the audit log.
create table sluice.api_key (
  id           text collate "C" primary key check (id ~ '^[a-z2-7]{10}$'),
  number       bigint generated always as identity unique,     -- the order in which they were made
  name         text not null check (length(name) between 1 and 200),
  role         text not null check (role in ('read', 'operate', 'admin')),
  secret_hash  bytea not null check (octet_length(secret_hash) = 32),
  first        boolean check (first),                          -- the one that a server without keys makes for itself
  created_at   timestamptz not null default sluice.now(),
  expires_at   timestamptz,
  last_used_at timestamptz,                                    -- to the minute
  revoked_at   timestamptz
);
-- Two processes that start at once make one first key between them: the second one waits here, and then does nothing.
create unique index api_key_first on sluice.api_key (first) where first;

-- People who signed in to the dashboard with a key. The cookie's token is as random as a key's secret and is hashed in the same way.
create table sluice.session (
  token_hash bytea primary key check (octet_length(token_hash) = 32),
  key        text collate "C" not null references sluice.api_key (id) on delete cascade,
  created_at timestamptz not null default sluice.now(),
  seen_at    timestamptz not null default sluice.now(),        -- to the minute
  expires_at timestamptz not null
);
create index session_key on sluice.session (key);
create index session_expires on sluice.session (expires_at);

-- Who did what. Only added to, and pruned by age.
create table sluice.audit (
  id          bigint generated always as identity primary key,
  at          timestamptz not null default sluice.now(),
  caller_kind text not null check (caller_kind in ('key', 'session', 'local', 'cli', 'none')),
  caller_id   text,
  caller_name text,
  address     text,
  action      text not null,
  target      text,
  detail      jsonb not null default '{}',
  outcome     text not null check (outcome in ('done', 'refused', 'failed'))
);
create index audit_at on sluice.audit (at);
create index audit_caller on sluice.audit (caller_id, id);
create index audit_action on sluice.audit (action, id);
