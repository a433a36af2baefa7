/** Last labels of names that stand in no public DNS (RFC 6761, 6762, 8375, 9476), and those of clusters. */
const own = new Set(
  'localhost local internal lan home corp intranet test invalid arpa svc cluster consul docker'.split(' '),
)

/** Whether a host is a name of the public DNS by its looks: it has a dot, and is no address and no name of a local network. */
export function isPublicName(host: string): boolean {
  const labels = host.toLowerCase().replace(/\.$/, '').split('.')
  const last = labels.at(-1) ?? ''
  return labels.length > 1 && /^[a-z]/.test(last) && !own.has(last)
}
