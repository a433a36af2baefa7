import { lookup } from 'node:dns'
import type { Scope } from '../../../engine/index.ts'
import type { FetchRules, FetchedFile } from './fetch-file.ts'

/** Number of files of one request that are fetched at a time. */
const atOnce = 4

/** The files of one request. */
export interface Fetching {
  readonly rules: FetchRules
  /** Timeout for all files together, in milliseconds. */
  readonly within: number
  readonly scope: Scope
  /** Called with each fetched file. */
  readonly files: Map<string, FetchedFile>
  /** Called for each file that could not be fetched. An error thrown here aborts all fetches. */
  missed(url: string, reason: string, cause: unknown): void
}

/** Fetches files by their URLs, one group after the other. */
export async function fetchAll(groups: readonly (readonly string[])[], fetching: Fetching): Promise<void> {
  const { rules, within, scope, files } = fetching
  // Loaded for the first file: the HTTP client is large, and most requests contain their files.
  const { FileFetcher, Unfetched } = await import('./fetch-file.ts')
  const fetcher = new FileFetcher(rules, lookup)
  const late = AbortSignal.timeout(within)
  const enough = new AbortController()
  const signal = AbortSignal.any([scope.signal, late, enough.signal])
  const work = async (waiting: string[]) => {
    for (let url = waiting.shift(); url !== undefined; url = waiting.shift()) {
      try {
        files.set(url, await fetcher.fetch(url, signal))
      } catch (error) {
        scope.signal.throwIfAborted()
        const reason = late.aborted ? 'it took too long to fetch' : error instanceof Unfetched && error.message
        if (reason === false) throw error
        fetching.missed(url, reason, error)
      }
    }
  }
  try {
    for (const group of groups) {
      const waiting = group.filter((url) => !files.has(url))
      await Promise.all(Array.from({ length: atOnce }, () => work(waiting)))
    }
  } finally {
    enough.abort()
    await fetcher.close()
  }
}
