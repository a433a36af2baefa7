import { inOrder } from '../config/uses.ts'
import type { TableQueries } from '../spec/database.ts'
import type { Registry } from '../config/registry.ts'
import { rotateSecret } from './reseal.ts'
import { accepted, newSecret } from '../secrets/secret-file.ts'
import { withServices } from './plugin-command.ts'
import { WrongUse } from './terminal.ts'
import type { CommonOptions, Terminal } from './terminal.ts'

/** The environment variable with the new master secret. */
const variable = 'SLUICE_NEW_SECRET'

/** Puts a new master secret in the place of the old one, whether a gateway runs or not. Returns the exit code. */
export function rotate(options: CommonOptions, terminal: Terminal): Promise<number> {
  const { environment } = terminal
  const given = environment[variable] || undefined
  const isGiven = Boolean(environment['SLUICE_SECRET'])
  const file = environment['SLUICE_SECRET_FILE'] ? 'the file that SLUICE_SECRET_FILE names' : undefined
  // Otherwise a printed secret would be the only copy of what everything is sealed with.
  if (isGiven && given === undefined)
    throw new WrongUse(
      `the master secret stands in ${file ?? 'SLUICE_SECRET'}: set ${variable} to the new one, which you keep in the same place`,
    )
  return withServices(concerned, options, terminal, async ({ services }, views) => {
    const rotated = await rotateSecret(views.stores, {
      secret: given === undefined ? newSecret() : accepted(given, variable),
      columns: services.flatMap(({ seals = [] }) => seals),
      async also(transaction, deriveKey) {
        for (const service of services.toReversed()) {
          const view = views.of([service.name])[service.name]
          await service.rotate?.(view, transaction as unknown as TableQueries, { deriveKey })
        }
      },
    })
    const { records, rows, unreadable } = rotated
    if (options.json) terminal.out(JSON.stringify({ ...rotated, master_secret: isGiven ? 'environment' : 'file' }))
    else {
      terminal.out(terminal.style('green', 'The master secret is a new one, and all sessions have ended.'))
      terminal.out(`Sealed anew: ${records} records, ${rows} rows.`)
      if (unreadable > 0) terminal.out(`${unreadable} rows were left as they are: no known master secret opens them.`)
      const now = file === undefined ? `set SLUICE_SECRET to the value` : `write into ${file} the value`
      if (isGiven) terminal.out(`Now ${now} of ${variable}, and restart every gateway.`)
    }
    return 0
  })
}

/** The services that seal or derive something, each after those that it uses. */
function concerned({ services }: Registry) {
  const all = inOrder(services).filter((service) => service.seals !== undefined || 'rotate' in service)
  return { services: all, uses: all.map(({ name }) => name) }
}
