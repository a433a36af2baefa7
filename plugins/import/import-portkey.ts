import { basename, resolve } from 'node:path'
import { defineCommand } from '../../engine/index.ts'
import { commonOptions, words } from './import-litellm.ts'

/** Makes a configuration of one of Portkey. */
export default defineCommand({
  name: 'import portkey',
  summary: 'Make a configuration of one of Portkey.',
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
    const { readPortkey } = await import('./portkey.ts')
    const read = async () => ({
      ...(await readPortkey(resolve(output.folder, file), file)),
      product: 'Portkey',
      from: basename(file),
    })
    return outcome(read, options, output)
  },
})
