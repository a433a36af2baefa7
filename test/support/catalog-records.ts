import { definePlugin } from '../../engine/index.ts'
import catalog from '../../plugins/catalog/index.ts'
import guard from '../../plugins/guards/guard-record.ts'

/** Providers, models and the guards that models name, without the stages that manage them: those use services of other plugins. */
export default definePlugin({
  name: 'catalog-records',
  summary: 'Providers, models and guards.',
  records: [...(catalog.records ?? []), guard],
})
