import { basename, resolve } from 'node:path'
import { defineCommand } from '../../engine/index.ts'
import { commonOptions, words } from './import-litellm.ts'
import type { Imported } from './outcome.ts'

/** Makes a configuration of one of Bifrost, and takes its virtual keys over. */
export default defineCommand({
  name: 'import bifrost',
  summary: 'Make a configuration of one of Bifrost, and take its virtual keys over.',
  options: {
    type: 'object',
    additionalProperties: false,
    required: ['file'],
    properties: { file: { type: 'string', description: 'Its configuration, such as config.json.' }, ...commonOptions },
  } as const,
  arguments: ['file'],
  words,
  async run({ file, ...options }, _services, output) {
    const { outcome } = await import('./outcome.ts')
    const { readBifrost } = await import('./bifrost.ts')
    const { foresee, storeKeys, targetOf } = await import('./keys.ts')
    const read = async (): Promise<Imported> => {
      const { draft, report, keys } = await readBifrost(resolve(output.folder, file), file)
      const imported = { draft, report, product: 'Bifrost', from: basename(file) }
      if (keys.length === 0) return imported
      const target = await targetOf(resolve(output.folder, options.out), output)
      if (options.dry_run) await foresee(target, keys, report)
      return { ...imported, store: (folder) => storeKeys(target, keys, { folder, report, output }) }
    }
    return outcome(read, options, output)
  },
})
