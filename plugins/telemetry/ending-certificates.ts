import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import type { Services } from '../../engine/index.ts'
import { timeText } from '../../engine/kit.ts'
import type { CertificateFile } from './environment.ts'

type Cause = Awaited<ReturnType<Parameters<Services['notifications']['watch']>[1]['read']>>[number]

/** How long before its end a certificate is told, in milliseconds. */
const ahead = 14 * 86_400_000

/**
 * The certificates with which telemetry is sent that end soon, or have ended. A file that cannot be read is told
 * elsewhere.
 * @param now milliseconds since 1970
 */
export async function endingCertificates(
  files: readonly CertificateFile[],
  now = Date.now(),
): Promise<readonly Cause[]> {
  const causes = await Promise.all(files.map((file) => causeOf(file, now)))
  return causes.filter((cause) => cause !== undefined)
}

async function causeOf({ variable, path, isTrusted }: CertificateFile, now: number): Promise<Cause | undefined> {
  const ends = endsIn(await readFile(path, 'utf8').catch(() => ''))
  if (ends.length === 0) return undefined
  // Of several that are trusted, one is enough; of a chain, each is needed.
  const end = isTrusted ? Math.max(...ends) : Math.min(...ends)
  if (end > now + ahead) return undefined
  const [at, host] = [timeText(end), hostname()]
  return {
    cause: 'expires',
    // Each host has files of its own.
    key: `expires certificate ${variable} ${host}`,
    subject: `The certificate of ${variable} on ${host} ${end > now ? 'ends' : 'ended'} at ${at}`,
    facts: { kind: 'certificate', name: variable, host, expires_at: at },
    path: '/settings/telemetry',
  }
}

/** When each certificate of a PEM file ends, in milliseconds since 1970. */
function endsIn(pem: string): readonly number[] {
  const parts = pem.match(/-----BEGIN CERTIFICATE-----[^-]{1,100000}-----END CERTIFICATE-----/g) ?? []
  return parts.flatMap((part) => {
    try {
      return [new X509Certificate(part).validToDate.getTime()]
    } catch {
      return []
    }
  })
}
