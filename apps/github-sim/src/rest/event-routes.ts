/** Events of a user: three hundred of the last thirty days, private ones for oneself only. */
import type { Account, SimEvent } from '../world/model.ts'
import { type Ask, iso, ok, type Reply } from './ask.ts'
import { cutPage, linkHeader, readPage } from './page.ts'
import * as problems from './problems.ts'
import { fullName } from './repo-view.ts'

const eventsMax = 300
const daysMax = 30
const pollSeconds = 60

export function eventsOf(ask: Ask, account: Account | undefined): Reply {
  if (!account) return problems.notFound('rest/activity/events#list-events-for-the-authenticated-user')
  const page = readPage(ask.query)
  if ((page.page - 1) * page.perPage >= eventsMax) return problems.endOfEvents()
  const oldest = ask.now - daysMax * 86_400_000
  const seen = ask.world
    .events(account.id)
    .filter((event) => event.createdAt >= oldest && isSeen(ask, account, event))
    .slice(0, eventsMax)
  const body = cutPage(seen, page).map((event) => view(ask, account, event))
  const link = linkHeader(`${ask.base}/user/${account.id}/events`, ask.query, page, seen.length)
  return ok(body, { headers: { ...link, 'x-poll-interval': String(pollSeconds) } })
}

function isSeen(ask: Ask, account: Account, event: SimEvent): boolean {
  const repo = ask.world.repos.get(event.repoId)
  return repo !== undefined && !repo.deleted && (!repo.private || ask.viewerId === account.id)
}

function view(ask: Ask, account: Account, event: SimEvent) {
  const repo = ask.world.repos.get(event.repoId)
  const name = repo ? fullName(ask.world, repo) : ''
  return {
    id: event.id,
    type: event.type,
    actor: {
      id: account.id,
      login: account.login,
      display_login: account.login,
      gravatar_id: '',
      url: `${ask.base}/users/${account.login}`,
      avatar_url: `https://avatars.githubusercontent.com/u/${account.id}?`,
    },
    repo: { id: event.repoId, name, url: `${ask.base}/repos/${name}` },
    payload: event.payload,
    public: !repo?.private,
    created_at: iso(event.createdAt),
  }
}
