-- What the collector knows about its own runs, the strategies it reads by, and comparisons of two of them.

-- How long a run took says nothing about its strategy when it waited for a token meanwhile.
alter table collector.users add column token_trusted_at timestamptz;  -- when it was given the last one; null: the first

-- A run of the collector: by which strategy it reads, told when it is planned, and how it went, told when it ends.
create table collector.run (
  run           bigint primary key,
  user_id       bigint not null references collector.users on delete cascade,
  collection_id bigint not null,                    -- the run outlives a shadow
  strategy      text not null check (strategy in ('graphql', 'rest')),
  planned_at    timestamptz not null default sluice.now(),
  watched       bigint,                             -- the switch that it is one of the first after
  ended_at      timestamptz,
  took_ms       bigint,                             -- null: it waited for another token
  jobs          integer,
  failed        integer
);
create index run_collection on collector.run (collection_id, run desc);
create index run_watched on collector.run (watched) where watched is not null;
create index run_user on collector.run (user_id);
create index run_planned on collector.run (planned_at);

-- Units of GitHub's budgets, as answers told their cost. While a run is under way its jobs only add rows, for a row that all of them changed would be a queue;
-- its end folds them into one a resource.
create table collector.spent (
  run      bigint not null,
  resource text not null check (resource in ('core', 'graphql')),
  calls    integer not null,
  units    integer not null
);
create index spent_run on collector.spent (run);

-- Every change of strategy, for one user or for all. The newest one for all is in force.
create table collector.switch (
  id            bigint generated always as identity primary key,
  user_id       bigint references collector.users on delete cascade,  -- null: all that have none of their own
  previous      text check (previous in ('graphql', 'rest')),         -- what was chosen before; null: the one for all
  chosen        text check (chosen in ('graphql', 'rest')),
  from_strategy text not null check (from_strategy in ('graphql', 'rest')),
  to_strategy   text not null check (to_strategy in ('graphql', 'rest')),
  made_by       text not null check (made_by in ('person', 'watch')),
  made_at       timestamptz not null default sluice.now(),
  state         text not null check (state in ('watching', 'kept', 'rolled back', 'replaced')),
  reason        text,                               -- why it was made, or why it was rolled back
  settled_at    timestamptz,
  check ((state = 'watching') = (settled_at is null))
);
create unique index switch_watching on collector.switch (coalesce(user_id, 0)) where state = 'watching';
create index switch_user on collector.switch (coalesce(user_id, 0), id desc);

-- Two strategies side by side: each fills a shadow of its own by a run of its own.
create table collector.shadow (
  id          bigint generated always as identity primary key,
  user_id     bigint not null references collector.users on delete cascade,
  keep        boolean not null default false,       -- the collections, after the report
  created_at  timestamptz not null default sluice.now(),
  finished_at timestamptz,
  report      jsonb,
  check ((finished_at is null) = (report is null))
);
create unique index shadow_active on collector.shadow (user_id) where finished_at is null;
create index shadow_user on collector.shadow (user_id, id desc);

create table collector.shadow_side (
  shadow_id     bigint not null references collector.shadow on delete cascade,
  place         smallint not null,
  strategy      text not null check (strategy in ('graphql', 'rest')),
  collection_id bigint not null,                    -- goes when the report is there
  run           bigint not null unique,
  primary key (shadow_id, place)
);
