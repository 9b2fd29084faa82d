-- For tools that speak SQL: one row a thing, typed columns, no JSON, live collections only, the user on each row. Names of columns stay: reports hang on them.
create view collector.users_flat as
select u.id as user_id, u.login, u.name, u.followers, u.account_since, u.token_state, u.registered_at, u.api_url
from collector.users u;

create view collector.repositories_flat as
select u.id as user_id, u.login, r.id as repository_id, r.owner_login || '/' || r.name as full_name, r.owner_id, r.owner_login, r.name, r.fork, r.private, r.archived,
       r.stars, r.language, r.default_branch, r.created_at, r.updated_at, r.pushed_at, r.state, r.state_reason, r.state_since, r.owner_id = u.id as own
from collector.users u
join collector.collection c on c.user_id = u.id and c.purpose = 'live'
join collector.repository r on r.collection_id = c.id;

create view collector.commits_flat as
select u.id as user_id, u.login, m.repository_id, r.owner_login || '/' || r.name as full_name, m.sha, m.author_id, m.authored_at, m.committed_at, m.additions,
       m.deletions, m.changed_files, m.headline, m.truncated, m.gone_at, m.author_id is not distinct from u.id as own
from collector.users u
join collector.collection c on c.user_id = u.id and c.purpose = 'live'
join collector.commit m on m.collection_id = c.id
left join collector.repository r on r.collection_id = c.id and r.id = m.repository_id;

create view collector.issues_flat as
select u.id as user_id, u.login, i.repository_id, r.owner_login || '/' || r.name as full_name, i.number, i.id as issue_id, i.title, i.state, i.author_id, i.comments,
       i.created_at, i.updated_at, i.closed_at, i.closed_by_id, i.truncated, i.closed_by_id is not distinct from u.id and i.state = 'closed' as solved
from collector.users u
join collector.collection c on c.user_id = u.id and c.purpose = 'live'
join collector.issue i on i.collection_id = c.id and not i.is_pull_request
left join collector.repository r on r.collection_id = c.id and r.id = i.repository_id;

create view collector.pull_requests_flat as
select u.id as user_id, u.login, p.repository_id, p.base_name, p.number, p.id as pull_request_id, p.title, p.state, p.author_id, p.created_at, p.updated_at, p.closed_at,
       p.merged_at, p.merged_by_id, p.base_owner_id, p.base_stars, p.head_owner_id, p.additions, p.deletions, p.changed_files, p.truncated,
       p.author_id is not distinct from u.id as own,
       coalesce(p.author_id = u.id and p.merged_at is not null and p.base_owner_id <> u.id, false) as counts
from collector.users u
join collector.collection c on c.user_id = u.id and c.purpose = 'live'
join collector.pull_request p on p.collection_id = c.id;

create view collector.events_flat as
select u.id as user_id, u.login, e.id as event_id, e.type, e.repository_id, e.created_at, e.truncated
from collector.users u
join collector.collection c on c.user_id = u.id and c.purpose = 'live'
join collector.event e on e.collection_id = c.id;

create view collector.statistics_flat as
select u.id as user_id, u.login, s.run, s.formula, s.computed_at, s.newest, s.repositories, s.commits, s.additions, s.deletions, s.counted_lines, s.active_days,
       s.longest_streak, s.current_streak, s.issues_solved, s.pull_requests, s.pull_request_weight, s.activity, s.impact, s.score
from collector.users u
join collector.user_statistics s on s.user_id = u.id;
