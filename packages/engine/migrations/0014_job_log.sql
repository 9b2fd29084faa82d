-- What handlers log: lines of a job, by day like the ledger, and pruned with it. Written in batches beside the work, not in the transaction that ends the job: the
-- lines of an attempt that failed are the ones that somebody will want to read.
-- `line` counts within an attempt as the handler wrote them; `id` is where a reader goes on, over attempts and snoozes.
create sequence sluice.job_log_id_seq;
create table sluice.job_log (
  id      bigint not null,
  job     bigint not null,
  attempt smallint not null,
  line    integer not null,
  at      timestamptz not null,
  level   text not null check (level in ('info', 'warn')),
  message text not null,
  fields  jsonb
) partition by range (at);
create index job_log_job on sluice.job_log (job, id);
select sluice.add_days((sluice.now() at time zone 'UTC')::date, 7);
