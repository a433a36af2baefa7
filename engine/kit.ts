// The entry point `sluice/kit`: helpers for writing stages, codecs and providers. Plugins can work without them.

// JSON: parse, compare, change without printing it again
export { asText, defined, isObject, mapMembers, mapTexts, orderedObject, valueAt } from './spec/json.ts'
export type { Defined } from './spec/json.ts'
export { mergePatch, patchSchema } from './json/merge-patch.ts'
export { objectAfter, parseJson, parseVerbatim, parsedJson, parsedObject } from './json/parse.ts'
export type { Verbatim } from './json/reader.ts'
export { spliceMember } from './json/splice-member.ts'
export { canonical } from './json/canonical.ts'
export { outline } from './json/outline.ts'
export { readUnambiguous } from './json/reader.ts'
export { repeatsKey } from './json/repeats-key.ts'
export { scanJson, spliceString } from './json/scan.ts'
export type { ScanOptions, ScannedJson } from './json/scan.ts'
export { cutMembers, pasteMembers, pasteOver, putMembers } from './json/members.ts'
export type { Cut } from './json/members.ts'
export { FieldNames } from './json/field-names.ts'
export { requirement } from './config/requirement.ts'
export type { SchemaError } from './config/requirement.ts'

// Forms
export { FormReader, fieldAt, spliceField } from './kit/form.ts'
export type { Form, FormFile } from './kit/form.ts'

// Requests: the token of their client
export { bearerToken } from './kit/bearer.ts'
export { network } from './http/shares.ts'

// Sub-exchanges: making the request, reading the reply
export { asking, replyJson } from './kit/asking.ts'
export type { Question } from './kit/asking.ts'

// Streams: sources, transforms, frames
export { giveBack, isLent } from './stream/lent.ts'
export { BytesBody, spliced } from './stream/body.ts'
export { bufferOf } from './stream/buffer-of.ts'
export { collect, collecting } from './stream/collect.ts'
export { peek } from './stream/peek.ts'
export { pull } from './stream/pull.ts'
export { through } from './stream/through.ts'
export type { Transform } from './stream/through.ts'
export { FrameDecoder, encodeFrame } from './stream/sse.ts'
export { WholeFrames } from './stream/whole.ts'
export type { Passed } from './stream/whole.ts'
export {
  Hold,
  ampleRoom,
  answerHold,
  byteBudgetOf,
  eventRoom,
  eventTooLarge,
  byteBudgetSpent,
} from './stream/byte-budget.ts'
export type { EventRoom } from './stream/byte-budget.ts'
export { watchSilence } from './stream/keepalive.ts'
export type { Beat } from './stream/keepalive.ts'

// Sockets to upstreams
export { dial } from './kit/dial.ts'
export type { Dialing } from './kit/dial.ts'
export { joined } from './stream/joined.ts'
export type { Passing } from './stream/joined.ts'
export { traceContext } from './telling/trace-context.ts'
export { hasCredentials } from './secrets/redaction.ts'
export { reasonOfError } from './http/close-reason.ts'

// Requests and answers: events to items and back, seals, tools
export { ClientRequest } from './kit/generate/client-request.ts'
export { answerOnByteLane, answering } from './kit/generate/answering.ts'
export { Fold, failed, fold } from './stream/fold.ts'
export { unfold } from './kit/generate/unfold.ts'
export { Telling } from './kit/generate/telling.ts'
export { tellCall } from './telling/told-provider.ts'
export { choicesIn, isSameModel, recordNamed } from './kit/generate/choices.ts'
export { Losses } from './kit/generate/losses.ts'
export { unsaid, word } from './kit/generate/unsaid.ts'
export type { Wish } from './kit/generate/unsaid.ts'
export { mapText } from './kit/generate/map-text.ts'
export { mapJson } from './kit/generate/map-json.ts'
export type { TextChange } from './kit/generate/map-json.ts'
export { packSeal, sealPrefix, unpackSeal } from './kit/generate/seal.ts'
export {
  callable,
  flatName,
  legalCallId,
  requireChosen,
  restored,
  toolNames,
  toolsByName,
} from './kit/generate/names.ts'
export type { FindTool, ToolNames } from './kit/generate/names.ts'
export { amendedSampling, samplingTrait, takenSampling } from './kit/generate/sampling.ts'
export type { Sampled } from './kit/generate/sampling.ts'
export { PairedCalls } from './kit/generate/paired-calls.ts'
export type { CallAnswer } from './kit/generate/paired-calls.ts'
export { searchInWords, searchWish } from './kit/generate/search.ts'
export type { SearchFields } from './kit/generate/search.ts'
export { CustomInput, customInput } from './kit/generate/custom-input.ts'

// What outlives a configuration, for services
export { Keep } from './services/keep.ts'

// Usage that is split by text, audio and images
export { tokenUsage } from './kit/generate/token-usage.ts'
export type { OutputKind } from './kit/generate/token-usage.ts'

// Tables that other processes change, too
export { whenFree } from './store/when-free.ts'
export { ChangePoll } from './kit/change-poll.ts'
export type { Polled } from './kit/change-poll.ts'

// Actions: who may run them
export { accessOf, isOfRole } from './spec/access.ts'

// Pages of the console: the words that one may have
export { pageGroups, pageIcons } from './spec/page.ts'

// Bodies of requests
export { checkInput } from './actions/input.ts'
export { compileForBodies } from './config/validate.ts'

// Answers about records: queries, pages, versions, who asks
export { listOf, negated, readList, readQuery } from './actions/list-query.ts'
export type { QueryField, QueryFields } from './actions/list-query.ts'
export type { ListKey, ListQuery, Page, Query } from './spec/query.ts'
export { pageOf, shape } from './kit/shape.ts'
export { answered, emptyReply, jsonReply, requesterOf, versionsIn } from './actions/record-reply.ts'
export type { ReplyOptions } from './actions/record-reply.ts'
export { budgetSchema, budgetStateSchema, periodStart, rateLimitSchema, rateLimitStateSchema } from './kit/allowance.ts'
export { momentIn, timeText } from './json/moment.ts'

// Deadlines
export { within } from './services/within.ts'

// Upstreams: providers over HTTP, with pools, limits and failures
export { openHttp } from './kit/upstream/http.ts'
export { jsonService } from './kit/upstream/json-service.ts'
export { openUpstream } from './kit/upstream/open.ts'
export type { ModelList } from './kit/upstream/model-list.ts'
export type { UpstreamParts, UpstreamSettings } from './kit/upstream/open.ts'
export { baseUrl, upstreamProperties } from './config/upstream-settings.ts'
export { addressOf } from './kit/upstream/address.ts'
export { readPublic } from './kit/upstream/read-public.ts'
export { guardedLookup, isLinkLocal, isWithin, literalAddress, refuseBeyond, refuseLinkLocal } from './config/reach.ts'
export type { Lookup, Reach } from './config/reach.ts'
export { headerLines, passedOn } from './kit/upstream/headers.ts'
export type { ClientHeaders } from './kit/upstream/headers.ts'

// Codecs, errors, models, durations, names
export { rowOf } from './spec/error-table.ts'
export { refusedAccess } from './kit/upstream/refused-access.ts'
export { retryAfterOf } from './kit/upstream/retry-after.ts'
export { asGatewayError, scrubbedFailure } from './spec/error.ts'
export { speaksToClients, speaksToUpstreams } from './config/speaking.ts'
export { isVirtual, modeOf, placesOf, virtualModels } from './spec/catalog.ts'
export { tierOf, tierRanges, tiers } from './kit/tier.ts'
export { hash01 } from './kit/hash01.ts'
export { fitting, holds, isPattern } from './spec/model-pattern.ts'
export { recordName } from './kit/stored-record.ts'
export { sourceFilter, withTimes } from './kit/stored-record.ts'
export { formOf } from './kit/schema-form.ts'
export { duration, durationSchema, isDuration, isTooShort, printDuration, tooShort } from './spec/duration.ts'
export { isPublicName } from './kit/public-name.ts'
export { checkTimeouts } from './records/server-checks.ts'
export { fieldFlaw } from './config/body-fields.ts'
export { didYouMean } from './config/suggest.ts'
export { guessableBy } from './secrets/guessable.ts'
export { isListed, unknownModel } from './kit/listed-models.ts'
export { moduleBeside } from './workers/module-beside.ts'

// Commands: what they print
export { columns, count, printJson, wrap } from './kit/text.ts'
