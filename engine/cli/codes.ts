import type { Registry } from '../config/registry.ts'
import { completed, errors } from '../spec/error-table.ts'
import type { ErrorRow, Retry } from '../spec/error-table.ts'

/** The meaning of each value of `retry`. */
export const retryMeaning: Readonly<Record<Retry, string>> = {
  never: 'the same request fails again',
  same: 'the same provider may serve it a little later',
  other: 'another provider may serve it',
}

/** The advice for each error code of the engine. */
const errorAdvice: Readonly<Record<keyof typeof errors, string>> = {
  invalid_json: 'Send a JSON body; the message says where it is not valid.',
  invalid_request: 'Correct the request as the message says.',
  invalid_value: 'Correct the named field; param says which.',
  invalid_request_error:
    'Name a model that can do this: the message says what its provider does not serve, or which flag its record lacks.',
  invalid_api_key: 'Send a key as "authorization: Bearer <key>"; make one with "sluice key create --name <name>".',
  invalid_token: 'Sign in, and send the token as "authorization: Bearer <token>"; an API key is not a token.',
  invalid_reference: 'Name something that exists; the message names what is missing.',
  reserved_name: 'Take another name: this one is part of an address or a virtual model.',
  secret_required: 'Send the named secret in the same change: it would go to another address, region or program.',
  private_address:
    'Set allow_private if the address is meant. Declare what is at a link-local address in the file, with allow_link_local.',
  invalid_cursor: 'Start again without the cursor, or keep sort and filters as they were.',
  forbidden: 'Ask someone with the role that the auth stage of the pipeline requires.',
  origin_not_allowed: 'Connect from a page that the gateway itself serves, or from outside a browser.',
  refused: 'A pipeline refuses such requests: see its refuse stage.',
  model_not_found: 'Name a model or an alias of the configuration; GET /v1/models lists them.',
  not_found: 'Check the path; "sluice list" and GET /v1/protocols show what is served.',
  method_not_allowed: 'Use a method that the allow header names.',
  declared_in_file: 'Change the record in the configuration file.',
  name_taken: 'Take another name.',
  in_use: 'First change or delete what the message names.',
  stale_version: 'Read the record again, and send its version as If-Match.',
  invalid_configuration: 'Correct what the message and "errors" name; nothing was changed.',
  request_too_large: 'Send less, or raise the limit of the parse stage.',
  unsupported_media_type: 'Send the content type that the message names, uncompressed.',
  store_unavailable: 'Check that the key-value store and the database can be reached.',
  cancelled: 'Nothing: a client cancelled the response.',
  unsupported:
    'A stage of the pipeline changes answers, and this one cannot be changed: take the stage out, or have it ask first.',
  worker_lost: 'Ask again: the process that worked on the response has ended.',
  response_already_in_flight: 'Wait for the last event of an answer before sending the next message.',
  websocket_connection_limit_reached: 'Connect again; stored responses can be continued.',
  missing_field: 'Send the field that param names.',
  unknown_field: 'Leave out the field that param names, or correct its name.',
  invalid_field: 'Correct the field that param names; "errors" lists every mistake.',
  upgrade_required: 'Connect with a WebSocket client.',
  rate_limit_exceeded: 'Wait as long as retry-after says, or give the model fallbacks at another provider.',
  client_closed: 'Nothing: the client went away. Many of these mean that clients give up sooner than models answer.',
  internal_error: 'Look the request id up in the log; the error there names the place in the pipeline.',
  upstream_error: 'Check the state of the provider; give the model fallbacks at another provider.',
  upstream_unreachable: "Check base_url, the network and the provider's state.",
  upstream_invalid_response: "Check that the provider's type matches the API at its base_url.",
  upstream_refused_key:
    'The word at the end of the message says why: credentials (check the api_key of the provider), model_access, region or billing. The row of the request has the words of the provider.',
  overloaded:
    'Try again shortly. If it lasts and the message names a model, give that model fallbacks; otherwise start more processes.',
  draining: 'Try again: another process takes over. Health reports say "draining" first.',
  request_timeout: 'Send the body without long pauses; check the network between client and gateway.',
  stage_timeout: 'The log names the place. Raise the timeout of that step, or look at what it waits for.',
  upstream_timeout: 'Raise the time limits of the call stage or of the provider, or give the model fallbacks.',
}

/** An error code with all that is known of it. */
export interface ToldCode extends ErrorRow {
  readonly code: string
  /** `engine`, or the plugin that declares it. */
  readonly from: string
  readonly advice: string
}

/** The error codes of the engine and of the plugins of a registry, by name. */
export function toldCodes(registry: Pick<Registry, 'errors'>): readonly ToldCode[] {
  const own = Object.entries(errors).map(([code, row]): ToldCode => ({
    code,
    ...row,
    from: 'engine',
    advice: errorAdvice[code as keyof typeof errors],
  }))
  const others = [...registry.errors].map(([code, row]): ToldCode => ({
    code,
    ...completed(row),
    from: row.from,
    advice: row.advice ?? '',
  }))
  return [...own, ...others].sort((left, right) => left.code.localeCompare(right.code))
}

/** The meaning of each finding code; camel-case codes are keywords of JSON Schema. */
export const findings: ReadonlyMap<string, string> = new Map([
  [
    'act',
    'A route has no action, or lacks a parameter that its action needs; or "act" or "actions" stands where it cannot.',
  ],
  ['additionalProperties', 'The field is unknown here. Look for a typo or wrong indentation.'],
  ['anyOf', 'The value matches none of the forms that are allowed here.'],
  [
    'body-twice',
    'A stage reads the body of the request, and an earlier one may have read it. A body can be read only once, so the tries of an attempt cannot each read it.',
  ],
  ['build', 'A stage could not be built from its configuration, although every field by itself is valid.'],
  ['component', 'A plugin contains something that is not a valid component, or a component that lacks a part.'],
  ['condition', 'A line of "when:" asks for something that cannot be compared.'],
  ['const', 'The value must be exactly the one named.'],
  ['date', 'The text is not a date (2027-01-31) or a date and time with its zone (2027-01-31T12:00:00Z).'],
  ['dispatch-cycle', 'A stage runs a pipeline that comes back to it, by itself or through others.'],
  ['duplicate', 'A name, a route or the text of a key is used twice, or a name is that of a virtual model.'],
  [
    'duty',
    'A stage runs, and something that the pipeline then owes is not done on every path: the finding names the line to add. A pipeline that means to do without it says "without: [<duty>]". "sluice list stages <name>" shows what a stage owes and pays.',
  ],
  ['duty-order', 'Two stages in "finally" stand in the wrong order: what the second one does comes too late.'],
  ['enum', 'The value is not one of those that are allowed here.'],
  ['fallback', 'A fallback cannot help, or models fall back to each other in a circle.'],
  ['file', 'A file cannot be read.'],
  ['fixture', 'A fixture asks for something that cannot be tried.'],
  ['format', 'The text does not have the required form.'],
  ['include-cycle', 'Pipelines include each other in a circle.'],
  ['inputs', 'A pipeline with routes begins with a request only, so it cannot ask for other slots.'],
  ['interpolation', 'A ${...} is neither ${NAME} nor ${NAME:-default}. For a literal ${, write $${.'],
  ['keys', 'The API keys of the configuration conflict with those of the database.'],
  ['maxItems', 'The list is too long.'],
  ['maxLength', 'The text is too long.'],
  ['maximum', 'The number is too large.'],
  ['minItems', 'The list is too short.'],
  ['minLength', 'The text is too short.'],
  ['minProperties', 'The map is empty.'],
  ['minimum', 'The number is too small.'],
  [
    'missing-slot',
    'A stage needs a slot, or a condition reads one, that no earlier step provides on every path. "sluice explain <pipeline>" shows what each step needs and gives.',
  ],
  ['no-access', 'A pipeline with routes must first authenticate the client, or say "public: true".'],
  ['no-body', 'A stage reads the body of the request, and requests of the route have none.'],
  ['no-list', 'An attempt goes over a list of candidates, and this slot is not such a list.'],
  ['no-socket', 'A pipeline with "socket: relay" has a route that is not a WebSocket.'],
  ['no-reply', 'A path through the pipeline ends without a reply.'],
  ['assumed', 'A model lacks a field that its requests or their bills need. The gateway uses a value of its own.'],
  [
    'not-given',
    'A stage runs a pipeline by its name and expects a slot that not every path of that pipeline provides.',
  ],
  [
    'not-handed-over',
    'A stage runs a pipeline by its name and does not hand over a slot that this pipeline begins with.',
  ],
  ['not-offered', 'A model asks for a protocol that its provider does not speak.'],
  ['other-name', 'A row of the database holds a record with another name than the row.'],
  ['oneOf', 'The value matches none of the forms that are allowed here, or more than one.'],
  ['open', 'A provider cannot be opened with its configuration.'],
  ['page', 'The console cannot show a page that a plugin declares: it has no list, or names what is not there.'],
  ['pattern', 'The text does not have the required form, such as 60s for a duration.'],
  ['pipelines', 'The folder of the pipelines does not exist, or a file in it is not read because of its name.'],
  ['plugin', 'A plugin does not exist, or fails when it is loaded.'],
  ['quality-tier', 'The word is not economy, balanced or premium; it counts as economy.'],
  ['required', 'A field that must be there is missing.'],
  ['reference', 'The record that is named exists, but cannot be used for this.'],
  ['reserved', 'The name is a part of addresses.'],
  ['restart', 'The setting cannot change while the gateway runs; restart it.'],
  ['sealed', 'A stored record was sealed with another master secret (SLUICE_SECRET).'],
  ['section', 'The settings of a section contradict each other, or one of them is invalid.'],
  ['routing', 'Smart routing will refuse every request, or an API key will get none served.'],
  ['service', 'A service says what is wrong with its settings, or could not be opened with them.'],
  ['service-cycle', 'Services use each other in a circle, so that none of them can be opened first.'],
  [
    'settles',
    'A stage settles after the exchange, or after its try of an attempt, and reads a slot that will not be there. Nothing in the pipeline gives the slot, or it is the outcome, which a failed try does not have.',
  ],
  ['stage', 'A stage refuses its configuration, for a reason that its schema cannot express.'],
  ['step', 'A step is neither a name nor a name with its fields.'],
  ['too-large', 'The file is too large for a configuration.'],
  ['link-local', 'A provider or an MCP server is at an address to which only allow_link_local leads.'],
  ['tries', 'A model has more fallbacks than an attempt makes tries, so that the last ones are never asked.'],
  ['type', 'The value has the wrong type, such as text instead of a number.'],
  ['uniqueItems', 'The list has an item twice.'],
  [
    'unknown-field',
    'A condition reads a field that the slot does not have ("sluice list slots <name>" shows those it has), or a setting names a field that requests do not have.',
  ],
  ['unchecked-name', 'A schema says that a text is a name, at a place where names are not checked.'],
  ['unreadable', 'A row of the database does not hold a JSON object, as every stored record must.'],
  ['unavailable', 'A service could not be opened, because the database cannot be used at the moment.'],
  ['unknown-error', 'An action says that it answers an error whose code nobody declares.'],
  ['unknown-model', 'No model has this name.'],
  ['unknown-action', 'No plugin provides this action; "sluice list actions" shows those that are there.'],
  ['unknown-pipeline', 'No pipeline has this name.'],
  ['unknown-protocol', 'No codec speaks this protocol.'],
  ['unknown-provider', 'No provider has this name.'],
  [
    'unknown-provider-type',
    'No plugin provides this type of provider; "sluice list providers" shows those that are there.',
  ],
  ['record', 'A type of record fails when it checks one of its records.'],
  [
    'unknown-record',
    'No plugin provides this type of record, or a service holds its records; "sluice list records" shows those that are there.',
  ],
  ['unknown-record-type', 'A schema says that a text names a record of a type that no plugin provides.'],
  ['unknown-section', 'The database holds a section of the settings that no plugin has.'],
  ['unknown-service', 'No plugin provides this service; "sluice list services" shows those that are there.'],
  ['unknown-slot', 'A stage takes a slot, or a pipeline starts with one, that no stage gives and no plugin declares.'],
  ['unknown-stage', 'No plugin provides this stage; "sluice list stages" shows those that are there.'],
  [
    'unreachable',
    'An earlier arm of the switch takes all that this one asks for, or the path has ended before this step.',
  ],
  ['environment', 'A variable of the environment has a value that cannot be used; what it is for is off.'],
  ['unset-variable', 'An environment variable without a default is not set.'],
  ['unused-alias', 'No route begins with the path of an alias, so that it adds none.'],
  ['unknown-duty', 'No stage owes a duty of this name; "sluice list stages <name>" shows what a stage owes.'],
  ['use-finally', 'An included pipeline has a "finally", which an include would leave out.'],
  ['catalog', 'The list of prices is at an address that is not asked.'],
  ['command', 'The program of an MCP server cannot be started as it is written: no shell reads it.'],
  ['context', 'The tokens of a context or of an answer are not what was meant.'],
  ['cors', 'A setting for pages of other origins has no effect.'],
  [
    'credential',
    'A credential is a placeholder, has quotes of its own, lacks its scheme, or stands beside another one.',
  ],
  ['database', 'The address of the database is not what was meant.'],
  ['deployment', 'A model has the same place twice, or its places are ordered by something that they do not have.'],
  ['expired', 'A key is past its end and is rejected.'],
  ['field-value', 'A value is set in requests that their protocol does not accept, so that they would be refused.'],
  ['header', 'A header of a provider has no value.'],
  ['host', 'The address to listen on has a port or a scheme.'],
  ['limits', 'A limit has no effect, because another one is reached before.'],
  ['models', 'A key can use no model.'],
  ['order', 'A stage stands behind one that must come after it, or twice.'],
  ['own-address', 'A provider is at the address of the gateway itself.'],
  ['open-door', 'A setting trusts or serves everybody, although it is meant for a few.'],
  ['untrusted-proxy', 'Requests name their client in x-forwarded-for, and their sender is not a trusted proxy.'],
  ['vendors', 'Says which vendors their variables switch on. This is no mistake.'],
  ['weak-secret', 'A key or the master secret can be guessed.'],
  ['plain-http', 'A credential travels unencrypted over a public network.'],
  ['pricing', 'A price is per token instead of per million, or is missing where a budget needs it.'],
  ['retries', 'No failure leads to another try.'],
  ['timeout', 'A limit of time is too short for anything, or longer than the one around it.'],
  ['tokens', 'A limit of tokens is less than what one request reserves.'],
  ['tools', 'The lists of tools of an MCP server contradict each other, or leave none.'],
  ['transport', 'A field of an MCP server belongs to the other transport.'],
  ['unused', 'Nothing runs a pipeline.'],
  ['wait', 'A wait is longer than the longest wait.'],
  ['without', 'A pipeline does without a duty, as it says. This is no mistake.'],
  ['yaml', 'The file is not YAML 1.2, or its aliases expand to too many values.'],
])
