import { duration, isTooShort, tooShort } from '../spec/duration.ts'
import type { Diagnostic, Path } from '../config/diagnostics.ts'
import type { RecordSet } from './records.ts'
import type { Settings, SettingsFile } from '../config/settings.ts'

/** Warns of values of the file that its schema accepts, and that nobody means. */
export function checkFile(
  { listen, database }: Pick<Settings, 'listen' | 'database'>,
  { client_timeouts: waits, catalog }: SettingsFile,
  warn: (path: Path, code: string, message: string) => void,
): void {
  const { host } = listen
  if (host.includes('/') || /^[^:]{0,255}:\d{1,5}$/.test(host))
    warn(
      ['listen', 'host'],
      'host',
      'is a name or an address alone; the port is listen.port, an outside address listen.url',
    )
  const { url } = database
  if (url.startsWith('sqlite://'))
    warn(
      ['database', 'url'],
      'database',
      `names a file from the root of the disk; did you mean "sqlite:${url.replace(/^sqlite:\/{2,3}/, '')}"?`,
    )
  if (url.includes(':memory:')) warn(['database', 'url'], 'database', 'keeps nothing after the process ends')
  if (catalog?.source?.startsWith('http://'))
    warn(['catalog', 'source'], 'catalog', 'is taken for a file; did you mean https://?')
  for (const [field, value] of Object.entries(waits))
    if (isTooShort(value)) warn(['client_timeouts', field], 'timeout', tooShort)
  if (duration(waits.body) < duration(waits.headers) && !isTooShort(waits.body))
    warn(['client_timeouts', 'body'], 'timeout', `is for a whole request, and less than headers (${waits.headers})`)
  else if (duration(waits.body_silence) > duration(waits.body) && !isTooShort(waits.body))
    warn(['client_timeouts', 'body_silence'], 'timeout', `is longer than body (${waits.body}), which ends it before`)
}

/** Warns of providers at the address where the gateway itself listens. */
export function askingItself(records: RecordSet, { host, port }: Settings['listen']): readonly Diagnostic[] {
  return (records.get('provider') ?? []).flatMap(({ value, given }) => {
    const address = typeof value['base_url'] === 'string' ? URL.parse(value['base_url']) : null
    if (address === null || port === 0 || address.port !== String(port) || !isHere(address.hostname, host)) return []
    const message = 'is the address of this gateway, so requests would go round in a circle'
    return [{ ...given.source.report([...given.path, 'base_url'], 'own-address', message), warning: true as const }]
  })
}

/** Whether other machines can connect to an address on which a gateway listens. */
export function isReachable(host = ''): boolean {
  return !/^(|localhost|127(\.\d+){3}|::1|\[::1\])$/i.test(host)
}

function isHere(name: string, host: string): boolean {
  const local = ['localhost', '127.0.0.1', '[::1]', '0.0.0.0', '[::]']
  return name === host || (local.includes(name) && (local.includes(host) || host === '::' || host === '::1'))
}
