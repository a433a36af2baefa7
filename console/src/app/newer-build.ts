import { queryOptions } from '@tanstack/react-query'

/**
 * Whether the gateway serves another build of the console by now. The names of its scripts have a hash of their content,
 * so one that this page has not loaded is of another build.
 */
export const newerBuild = queryOptions({
  queryKey: ['console', 'build'],
  queryFn: async ({ signal }) => {
    const response = await fetch('/', {
      headers: { accept: 'text/html' },
      cache: 'no-store',
      credentials: 'omit',
      signal,
    })
    if (!response.ok) return false
    const loaded = new Set([...document.scripts].map(({ src }) => src && new URL(src).pathname))
    const served = [...(await response.text()).matchAll(/<script [^>]*src="([^"]+)"/g)]
    return served.some(([, src = '']) => !loaded.has(src))
  },
  refetchInterval: 60_000,
})
