-- What people did on GitHub. Everything is keyed by GitHub's own ids; names are data.
-- A collection is one body of data of a user: the live one, or a shadow that another strategy fills beside it. Rows and cursors belong to a collection, so
-- that a shadow touches nothing that counts, and a change of strategy keeps everything.
create schema collector;

-- Plural only because the singular is a word of SQL. Tokens are not here: they are secrets of the engine, named github:ID.
create table collector.users (
  id               bigint primary key,              -- of the GitHub account
  node_id          text not null,
  login            text not null,
  api_url          text not null,                   -- of the GitHub that the account is of: ids of another one mean other people
  name             text,
  followers        integer,
  account_since    timestamptz,
  token_state      text not null default 'ok' check (token_state in ('ok', 'refused')),
  token_refused_at timestamptz,
  token_refusal    text,                            -- what GitHub said
  strategy         text check (strategy in ('graphql', 'rest')),  -- null: the one for all
  registered_at    timestamptz not null default sluice.now(),
  check ((token_state = 'refused') = (token_refused_at is not null))
);
create unique index users_login on collector.users (lower(login));

create table collector.collection (
  id         bigint generated always as identity primary key,
  user_id    bigint not null references collector.users on delete cascade,
  purpose    text not null check (purpose in ('live', 'shadow')),
  strategy   text not null check (strategy in ('graphql', 'rest')),
  created_at timestamptz not null default sluice.now()
);
create unique index collection_live on collector.collection (user_id) where purpose = 'live';
create index collection_user on collector.collection (user_id);

-- How far a list was read. `since` and `head` move only when a walk has ended.
create table collector.cursor (
  collection_id bigint not null references collector.collection on delete cascade,
  resource      text not null,                      -- profile, events, repositories, commits, issues, pull-requests, own-pull-requests
  subject       bigint not null default 0,          -- the repository, where it is one's
  since         timestamptz,                        -- in GitHub's time
  place         text,                               -- where a walk is that has not ended
  etag          text,
  etag_token    text,                               -- fingerprint of the token that the ETag belongs to
  head          text,                               -- commit that the last finished walk began with
  total         integer,                            -- commits reachable from it
  run           bigint,                             -- that moved it last
  moved_at      timestamptz not null default sluice.now(),
  primary key (collection_id, resource, subject)
);

create table collector.repository (
  collection_id     bigint not null references collector.collection on delete cascade,
  id                bigint not null,
  node_id           text not null,
  owner_id          bigint not null,
  owner_login       text not null,
  name              text not null,
  fork              boolean not null,
  private           boolean not null,
  archived          boolean not null,
  stars             integer not null,
  language          text,
  default_branch    text,
  head              text,                           -- as discovery saw it last; null: empty
  has_issues        boolean not null default true,
  has_pull_requests boolean not null default true,
  created_at        timestamptz not null,
  updated_at        timestamptz not null,
  pushed_at         timestamptz,
  newest_issue_at   timestamptz,                    -- its newest update, as discovery saw it last
  newest_pull_at    timestamptz,
  -- deleted: its id answers 404. left: no longer listed for this user. forbidden: this token may not (SSO, IP list, rights). Those come back by themselves.
  state             text not null default 'active' check (state in ('active', 'empty', 'deleted', 'blocked', 'forbidden', 'left')),
  state_reason      text,
  state_since       timestamptz not null default sluice.now(),
  seen_run          bigint,                         -- that listed it last
  primary key (collection_id, id)
);

create table collector.commit (
  collection_id  bigint not null references collector.collection on delete cascade,
  repository_id  bigint not null,
  sha            text collate "C" not null,         -- compared by bytes: a third of the cost of an index entry
  author_id      bigint,                            -- null: its e-mail belongs to no account
  authored_at    timestamptz not null,
  committed_at   timestamptz not null,
  additions      integer,                           -- null: not known yet
  deletions      integer,
  changed_files  integer,
  headline       text not null,
  truncated      boolean not null default false,
  walk           bigint not null,                   -- the run whose walk saw it last
  gone_at        timestamptz,                       -- no longer reachable: pushed away
  primary key (collection_id, repository_id, sha)
);
create index commit_author on collector.commit (collection_id, author_id, authored_at) where gone_at is null;
create index commit_bare on collector.commit (collection_id, repository_id) where additions is null and gone_at is null;

create table collector.issue (
  collection_id   bigint not null references collector.collection on delete cascade,
  repository_id   bigint not null,
  number          integer not null,
  id              bigint not null,
  title           text not null,
  state           text not null check (state in ('open', 'closed')),
  author_id       bigint,
  comments        integer,
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  closed_at       timestamptz,
  closed_by_id    bigint,
  is_pull_request boolean not null default false,   -- REST lists both; such a row never counts as an issue
  truncated       boolean not null default false,
  primary key (collection_id, repository_id, number)
);
create index issue_closer on collector.issue (collection_id, closed_by_id) where closed_by_id is not null;

-- Those of the user's repositories, and the user's own anywhere: one table, since one pull request can be both.
create table collector.pull_request (
  collection_id  bigint not null references collector.collection on delete cascade,
  repository_id  bigint not null,                   -- base
  number         integer not null,
  id             bigint not null,
  title          text not null,
  state          text not null check (state in ('open', 'closed')),
  author_id      bigint,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  closed_at      timestamptz,
  merged_at      timestamptz,
  merged_by_id   bigint,
  base_name      text not null,
  base_owner_id  bigint,
  base_stars     integer,
  head_owner_id  bigint,
  additions      integer,
  deletions      integer,
  changed_files  integer,
  truncated      boolean not null default false,
  primary key (collection_id, repository_id, number)
);
create index pull_request_author on collector.pull_request (collection_id, author_id, merged_at);

-- Kept by id, never used to count commits: GitHub keeps 300 of them for 30 days.
create table collector.event (
  collection_id bigint not null references collector.collection on delete cascade,
  id            text collate "C" not null,
  type          text not null,
  repository_id bigint,
  created_at    timestamptz not null,
  payload       jsonb not null,
  truncated     boolean not null default false,
  primary key (collection_id, id)
);

create table collector.user_statistics (
  user_id             bigint not null references collector.users on delete cascade,
  run                 bigint not null,
  formula             integer not null,
  computed_at         timestamptz not null default sluice.now(),
  newest              boolean not null,             -- what leaderboards and the whole are made of; one a user
  repositories        bigint not null,
  commits             bigint not null,
  additions           bigint not null,
  deletions           bigint not null,
  counted_lines       bigint not null,              -- with the cap of each commit: what the score is made of
  active_days         integer not null,
  longest_streak      integer not null,
  current_streak      integer not null,
  issues_solved       bigint not null,
  pull_requests       bigint not null,              -- merged into others' repositories
  pull_request_weight double precision not null,
  activity            double precision not null,
  impact              double precision not null,
  score               double precision not null,
  primary key (user_id, run)
);
create unique index user_statistics_newest on collector.user_statistics (user_id) where newest;
create index user_statistics_score on collector.user_statistics (score desc, user_id) where newest;
create index user_statistics_activity on collector.user_statistics (activity desc, user_id) where newest;
create index user_statistics_impact on collector.user_statistics (impact desc, user_id) where newest;

create table collector.global_statistics (
  run           bigint primary key,
  computed_at   timestamptz not null default sluice.now(),
  formula       integer not null,
  users         bigint not null,
  repositories  bigint not null,
  commits       bigint not null,
  additions     bigint not null,
  deletions     bigint not null,
  issues_solved bigint not null,
  pull_requests bigint not null,
  mean_score    double precision not null,
  median_score  double precision not null
);
