// What `sluice` is to editors: the contract, with what shipped plugins add to its slots, services and records. At run time
// it is `engine/index.ts` alone.
import '../plugins/access/sessions.ts'
import '../plugins/catalog/model.ts'
import '../plugins/catalog/provider.ts'
import '../plugins/counting/tokens.ts'
import '../plugins/keys/api-key.ts'
import '../plugins/keys/api-keys.ts'
import '../plugins/keys/table.ts'
import '../plugins/members/members.ts'
import '../plugins/members/table.ts'
import '../plugins/request-log/requests.ts'
import '../plugins/request-log/table.ts'
import '../plugins/responses/stored/stored-responses.ts'
import '../plugins/translation/files/file-urls.ts'
import '../plugins/translation/request-policy.ts'
import '../plugins/translation/web-search.ts'

export * from '../engine/index.ts'
