import type { GenerateRequest, Loss, SearchWish, Services, Tool } from '../../engine/index.ts'

type Settings = Services['web_search']

/** Applies the operator's policy to the web searches of a request, and reports the losses. */
export type SearchPolicy = (request: GenerateRequest) => { request: GenerateRequest; losses: readonly Loss[] }

/** The policy of a configuration; undefined if it changes no search. */
export function searchPolicy(section: Settings): SearchPolicy | undefined {
  if (isIdle(section)) return undefined
  return (request) => {
    const losses: Loss[] = []
    const lost = (because: string): readonly Tool[] => {
      losses.push({ field: 'tools[].web_search', because })
      return []
    }
    const tools = request.tools.flatMap((tool): readonly Tool[] => {
      if (tool.type !== 'opaque' || !tool.search) return [tool]
      if (section.mode === 'off') return lost('the gateway is set to search nothing')
      const search = held(tool.search, section)
      return search ? [{ ...tool, search }] : lost('no domain is left that it may search')
    })
    return { request: { ...request, tools }, losses }
  }
}

function isIdle({ mode, allowed_domains, blocked_domains, context_size, max_uses }: Settings): boolean {
  const filtered = allowed_domains.length > 0 || blocked_domains.length > 0
  return mode === 'native' && !filtered && context_size === null && max_uses === null
}

/** A search restricted to the allowed domains; undefined if no domain is left. */
function held(wish: SearchWish, { allowed_domains, blocked_domains, context_size, max_uses }: Settings) {
  const { allowedDomains: asked, blockedDomains = [], ...others } = wish
  const blocked = [...new Set([...blockedDomains, ...blocked_domains])]
  const within = allowed_domains.length > 0 ? (asked ? common(asked, allowed_domains) : allowed_domains) : asked
  const allowed = within?.filter((domain) => !blocked.some((wide) => covers(wide, domain)))
  if (allowed?.length === 0) return undefined
  // With a list of allowed domains, a blocked domain matters only below one of them.
  const telling = allowed ? blocked.filter((domain) => allowed.some((wide) => covers(wide, domain))) : blocked
  const contextSize = wish.contextSize ?? context_size ?? undefined
  const uses = Math.min(wish.maxUses ?? Infinity, max_uses ?? Infinity)
  return {
    ...others,
    ...(allowed ? { allowedDomains: allowed } : {}),
    ...(telling.length > 0 ? { blockedDomains: telling } : {}),
    ...(contextSize === undefined ? {} : { contextSize }),
    ...(uses === Infinity ? {} : { maxUses: uses }),
  } satisfies SearchWish
}

/** The intersection of two lists. Of a domain and its parent, the subdomain is kept. */
function common(one: readonly string[], other: readonly string[]): readonly string[] {
  const below = (list: readonly string[], above: readonly string[]) =>
    list.filter((domain) => above.some((wide) => covers(wide, domain)))
  return [...new Set([...below(one, other), ...below(other, one)])]
}

/** Whether a domain, perhaps with a path, equals another one or is below it. */
function covers(wide: string, narrow: string): boolean {
  const [host, path] = split(wide)
  const [inner, place] = split(narrow)
  return (
    (inner === host || inner.endsWith(`.${host}`)) && (path === '' || place === path || place.startsWith(`${path}/`))
  )
}

function split(domain: string): readonly [host: string, path: string] {
  const plain = domain.toLowerCase().replace(/^https?:\/\//, '')
  const slash = plain.indexOf('/')
  if (slash < 0) return [plain, '']
  const path = plain.slice(slash)
  return [plain.slice(0, slash), path.endsWith('/') ? path.slice(0, -1) : path]
}
