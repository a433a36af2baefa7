/** The token of `/setup#token=…`. It is taken out of the address before the first request, and kept in memory alone. */
export const setupToken = taken()

function taken(): string | undefined {
  const token = new URLSearchParams(location.hash.slice(1)).get('token')
  if (token === null) return undefined
  history.replaceState(history.state, '', location.pathname + location.search)
  return token
}
