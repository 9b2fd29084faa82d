/** How accounts look over REST: the short form that stands inside everything, and the profile. */
import type { Account } from '../world/model.ts'
import type { World } from '../world/world.ts'
import { iso } from './ask.ts'

export type View = Record<string, unknown>

/** Short forms are written into every row of every list, so the last one made for an account is kept. */
const kept = new WeakMap<Account, { base: string; login: string; view: View }>()

export function simpleUser(account: Account, base: string): View {
  const known = kept.get(account)
  if (known?.base === base && known.login === account.login) return known.view
  const url = `${base}/users/${account.login}`
  const view = {
    login: account.login,
    id: account.id,
    node_id: account.nodeId,
    avatar_url: `https://avatars.githubusercontent.com/u/${account.id}?v=4`,
    gravatar_id: '',
    url,
    html_url: `https://github.com/${account.login}`,
    followers_url: `${url}/followers`,
    following_url: `${url}/following{/other_user}`,
    gists_url: `${url}/gists{/gist_id}`,
    starred_url: `${url}/starred{/owner}{/repo}`,
    subscriptions_url: `${url}/subscriptions`,
    organizations_url: `${url}/orgs`,
    repos_url: `${url}/repos`,
    events_url: `${url}/events{/privacy}`,
    received_events_url: `${url}/received_events`,
    type: account.type,
    user_view_type: 'public',
    site_admin: false,
  }
  kept.set(account, { base, login: account.login, view })
  return view
}

export function simpleUserById(world: World, id: number | null, base: string): View | null {
  const account = id === null ? undefined : world.accounts.get(id)
  return account ? simpleUser(account, base) : null
}

export function profile(world: World, account: Account, base: string): View {
  const repos = world.reposOf(account.id, ['OWNER'])
  return {
    ...simpleUser(account, base),
    name: account.name,
    company: null,
    blog: '',
    location: null,
    email: null,
    hireable: null,
    bio: null,
    twitter_username: null,
    public_repos: repos.filter((repo) => !repo.private).length,
    public_gists: 0,
    followers: account.followers,
    following: 0,
    created_at: iso(account.createdAt),
    updated_at: iso(account.updatedAt),
  }
}

/** What only the account itself is told. */
export function ownProfile(world: World, account: Account, base: string): View {
  const hidden = world.reposOf(account.id, ['OWNER']).filter((repo) => repo.private).length
  return {
    ...profile(world, account, base),
    user_view_type: 'private',
    private_gists: 0,
    total_private_repos: hidden,
    owned_private_repos: hidden,
    disk_usage: 1024,
    collaborators: 0,
    two_factor_authentication: true,
    plan: { name: 'free', space: 976562499, private_repos: 10000, collaborators: 0 },
  }
}
