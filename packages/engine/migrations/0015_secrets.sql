-- Secrets: values that only a process with the master key can read. docs/secrets.md has the rules.
-- What is stored is sealed before it gets here, so neither the server's log, nor a dump, nor whoever may read the table sees more than a name.
create table sluice.secret (
  name       text collate "C" primary key check (length(name) between 1 and 200),
  sealed     text not null,
  key_id     text collate "C" not null,                        -- the master key that it takes, as `sealed` says it too
  created_at timestamptz not null default sluice.now(),
  updated_at timestamptz not null default sluice.now(),        -- when its value was last put
  check (split_part(sealed, '.', 2) = key_id)
);
