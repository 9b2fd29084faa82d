/**
 * Who and what goes by which name: logins, repository names, and the names they had before.
 *
 * A former name leads on to the repository as long as nobody has taken the name again; that is how GitHub's redirects live
 * and die. Former logins lead on for repositories, but not for the account itself.
 */
import type { Account, Affiliation, Repo } from './model.ts'

export class Directory {
  readonly accounts = new Map<number, Account>()
  readonly repos = new Map<number, Repo>()
  readonly #logins = new Map<string, number>()
  readonly #formerLogins = new Map<string, number>()
  readonly #names = new Map<string, number>()
  readonly #formerNames = new Map<string, number>()
  readonly #owned = new Map<number, Set<number>>()
  readonly #collaborations = new Map<number, Set<number>>()
  readonly #memberships = new Map<number, Set<number>>()

  addAccount(account: Account): void {
    this.accounts.set(account.id, account)
    this.#logins.set(account.login.toLowerCase(), account.id)
  }

  addRepo(repo: Repo): void {
    this.repos.set(repo.id, repo)
    this.#names.set(nameKey(repo.ownerId, repo.name), repo.id)
    enter(this.#owned, repo.ownerId, repo.id)
    for (const id of repo.collaboratorIds) enter(this.#collaborations, id, repo.id)
  }

  byLogin(login: string): Account | undefined {
    return this.accounts.get(this.#logins.get(login.toLowerCase()) ?? -1)
  }

  byName(owner: string, name: string): Repo | { readonly movedTo: Repo } | undefined {
    const present = this.#logins.get(owner.toLowerCase())
    const former = this.#formerLogins.get(owner.toLowerCase())
    if (present !== undefined) {
      const repo = this.#repo(this.#names.get(nameKey(present, name)))
      if (repo) return repo
    }
    for (const ownerId of [present, former]) {
      if (ownerId === undefined) continue
      const moved = this.#repo(this.#names.get(nameKey(ownerId, name)) ?? this.#formerNames.get(nameKey(ownerId, name)))
      if (moved) return { movedTo: moved }
    }
    return undefined
  }

  /** Those that are not deleted, by id; blocked and guarded ones are among them. */
  reposOf(accountId: number, affiliations: readonly Affiliation[]): Repo[] {
    const ids = new Set<number>()
    const take = (from: Set<number> | undefined) => from?.forEach((id) => ids.add(id))
    if (affiliations.includes('OWNER')) take(this.#owned.get(accountId))
    if (affiliations.includes('COLLABORATOR')) take(this.#collaborations.get(accountId))
    if (affiliations.includes('ORGANIZATION_MEMBER'))
      this.#memberships.get(accountId)?.forEach((organization) => take(this.#owned.get(organization)))
    return [...ids].map((id) => this.#repo(id)).filter((repo) => repo !== undefined)
  }

  isVisible(repo: Repo, viewerId: number | undefined): boolean {
    if (repo.deleted) return false
    if (!repo.private || repo.ownerId === viewerId) return true
    if (viewerId === undefined) return false
    return repo.collaboratorIds.includes(viewerId) || this.isMember(viewerId, repo.ownerId)
  }

  isMember(accountId: number, organizationId: number): boolean {
    return this.#memberships.get(accountId)?.has(organizationId) ?? false
  }

  addMember(accountId: number, organizationId: number): void {
    enter(this.#memberships, accountId, organizationId)
  }

  addCollaborator(repo: Repo, accountId: number): void {
    repo.collaboratorIds = [...new Set([...repo.collaboratorIds, accountId])]
    enter(this.#collaborations, accountId, repo.id)
  }

  removeCollaborator(repo: Repo, accountId: number): void {
    repo.collaboratorIds = repo.collaboratorIds.filter((id) => id !== accountId)
    this.#collaborations.get(accountId)?.delete(repo.id)
  }

  /** Renames, transfers, or both. The old name leads here until it is taken. */
  moveRepo(repo: Repo, ownerId: number, name: string): void {
    const from = { ownerId: repo.ownerId, name: repo.name }
    this.#names.delete(nameKey(from.ownerId, from.name))
    this.#formerNames.set(nameKey(from.ownerId, from.name), repo.id)
    this.#owned.get(from.ownerId)?.delete(repo.id)
    repo.formerNames = [...repo.formerNames, from]
    repo.ownerId = ownerId
    repo.name = name
    this.#formerNames.delete(nameKey(ownerId, name))
    this.addRepo(repo)
  }

  removeRepo(repo: Repo): void {
    repo.deleted = true
    this.#names.delete(nameKey(repo.ownerId, repo.name))
  }

  renameLogin(account: Account, login: string): void {
    this.#logins.delete(account.login.toLowerCase())
    this.#formerLogins.set(account.login.toLowerCase(), account.id)
    account.formerLogins = [...account.formerLogins, account.login]
    account.login = login
    this.#logins.set(login.toLowerCase(), account.id)
  }

  #repo(id: number | undefined): Repo | undefined {
    const repo = id === undefined ? undefined : this.repos.get(id)
    return repo?.deleted ? undefined : repo
  }
}

const nameKey = (ownerId: number, name: string) => `${ownerId}/${name.toLowerCase()}`

function enter(map: Map<number, Set<number>>, key: number, value: number): void {
  const known = map.get(key)
  if (known) known.add(value)
  else map.set(key, new Set([value]))
}
