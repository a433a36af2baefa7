// What `sluice` is to editors: the contract, with what shipped plugins add to its slots, services and records. At run time
// it is `engine/index.ts` alone.
import '../plugins/access/sessions.ts'
import '../plugins/catalog/model.ts'
import '../plugins/catalog/provider.ts'
import '../plugins/protocols/settings/file-urls.ts'
import '../plugins/protocols/settings/request-policy.ts'
import '../plugins/protocols/settings/web-search.ts'
import '../plugins/records/requests/requests.ts'
import '../plugins/records/requests/table.ts'

export * from '../engine/index.ts'
