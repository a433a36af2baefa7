import { definePlugin } from '../../engine/index.ts'
import catalog from '../../plugins/catalog/index.ts'

/** Providers and models, without the stages that manage them: those use services of other plugins. */
export default definePlugin({
  name: 'catalog-records',
  summary: 'Providers and models.',
  records: catalog.records ?? [],
})
