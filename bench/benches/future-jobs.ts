/**
 * Jobs of tomorrow, put straight into the table, since enqueuing a million of them is not what is measured. $1: how many.
 */
export const futureJobs = `
  insert into sluice.job (kind, pool, shelf, rank, payload, key, key_rule, max_attempts, run_at, created_at)
  select 'bench.noop', 'light', 'scheduled', sluice.rank(due, 0, 60000), jsonb_build_object('n', n), 'bench.future#' || md5(n::text), 'end', 5, due, at
  from generate_series(1, $1::bigint) as n, sluice.now() as at, lateral (select at + interval '1 day' + n * interval '1 ms' as due) as later`
