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
export { scanJson, spliceString } from './http/scan.ts'
export type { ScanOptions, ScannedJson } from './http/scan.ts'
export { cutMembers, pasteMembers, pasteOver, putMembers } from './http/members.ts'
export type { Cut } from './http/members.ts'
export { FieldNames } from './http/field-names.ts'
export { requirement } from './spec/requirement.ts'
export type { SchemaError } from './spec/requirement.ts'

// Forms
export { FormReader, fieldAt, spliceField } from './http/form.ts'
export type { Form, FormFile } from './http/form.ts'

// Requests: the token of their client
export { bearerToken } from './http/bearer.ts'
export { network } from './http/shares.ts'

// Sub-exchanges: making the request, reading the reply
export { asking, replyJson } from './http/asking.ts'
export type { Question } from './http/asking.ts'

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

// Sockets to upstreams
export { dial } from './http/dial.ts'
export type { Dialing } from './http/dial.ts'
export { joined } from './stream/joined.ts'
export type { Passing } from './stream/joined.ts'
export { reasonOfError } from './http/close-reason.ts'

// Requests and answers: events to items and back, seals, tools
export { ClientRequest } from './generate/client-request.ts'
export { answerOnByteLane, answering } from './generate/answering.ts'
export { Fold, failed, fold } from './generate/fold.ts'
export { unfold } from './generate/unfold.ts'
export { Telling } from './generate/telling.ts'
export { choicesIn, isSameModel, recordNamed } from './generate/choices.ts'
export { Losses } from './generate/losses.ts'
export { unsaid, word } from './generate/unsaid.ts'
export type { Wish } from './generate/unsaid.ts'
export { mapText } from './generate/map-text.ts'
export { mapJson } from './generate/map-json.ts'
export type { TextChange } from './generate/map-json.ts'
export { packSeal, sealPrefix, unpackSeal } from './generate/seal.ts'
export { callable, flatName, legalCallId, requireChosen, restored, toolNames, toolsByName } from './generate/names.ts'
export type { FindTool, ToolNames } from './generate/names.ts'
export { amendedSampling, samplingTrait, takenSampling } from './generate/sampling.ts'
export type { Sampled } from './generate/sampling.ts'
export { PairedCalls } from './generate/paired-calls.ts'
export type { CallAnswer } from './generate/paired-calls.ts'
export { searchInWords, searchWish } from './generate/search.ts'
export type { SearchFields } from './generate/search.ts'
export { CustomInput, customInput } from './generate/custom-input.ts'

// What outlives a configuration, for services
export { Keep } from './live/keep.ts'

// Usage that is split by text, audio and images
export { tokenUsage } from './generate/token-usage.ts'
export type { OutputKind } from './generate/token-usage.ts'

// Tables that other processes change, too
export { whenFree } from './store/when-free.ts'
export { ChangePoll } from './live/change-poll.ts'
export type { Polled } from './live/change-poll.ts'

// Actions: who may run them
export { accessOf, isOfRole } from './spec/access.ts'

// Bodies of requests
export { checkInput } from './http/input.ts'
export { compileForBodies } from './config/validate.ts'

// Answers about records: queries, pages, versions, who asks
export { listOf, negated, readList, readQuery } from './http/list-query.ts'
export type { QueryField, QueryFields } from './http/list-query.ts'
export type { ListKey, ListQuery, Page, Query } from './spec/query.ts'
export { pageOf, shape } from './http/shape.ts'
export { answered, emptyReply, jsonReply, requesterOf, versionsIn } from './http/record-reply.ts'
export type { ReplyOptions } from './http/record-reply.ts'
export {
  budgetSchema,
  budgetStateSchema,
  periodStart,
  rateLimitSchema,
  rateLimitStateSchema,
} from './spec/allowance.ts'
export { momentIn, timeText } from './spec/moment.ts'

// Deadlines
export { within } from './config/within.ts'

// Upstreams: providers over HTTP, with pools, limits and failures
export { openHttp } from './upstream/http.ts'
export { openUpstream } from './upstream/open.ts'
export type { ModelList } from './upstream/model-list.ts'
export type { UpstreamParts, UpstreamSettings } from './upstream/open.ts'
export { baseUrl, upstreamProperties } from './upstream/settings.ts'
export { addressOf } from './upstream/address.ts'
export { readPublic } from './upstream/read-public.ts'
export {
  guardedLookup,
  isLinkLocal,
  isWithin,
  literalAddress,
  refuseBeyond,
  refuseLinkLocal,
} from './upstream/reach.ts'
export type { Lookup, Reach } from './upstream/reach.ts'
export { headerLines, passedOn } from './upstream/headers.ts'
export type { ClientHeaders } from './upstream/headers.ts'

// Codecs, errors, models, durations, names
export { rowOf } from './spec/error-table.ts'
export { refusedAccess } from './upstream/refused-access.ts'
export { retryAfterOf } from './upstream/retry-after.ts'
export { asGatewayError, scrubbedFailure } from './spec/error.ts'
export { speaksToClients, speaksToUpstreams } from './config/speaking.ts'
export { isVirtual, modeOf, placesOf, virtualModels } from './spec/catalog.ts'
export { tierOf, tierRanges, tiers } from './spec/tier.ts'
export { hash01 } from './hash01.ts'
export { fitting, holds, isPattern } from './spec/model-pattern.ts'
export { recordName } from './spec/record-name.ts'
export { reservedNames, sourceFilter, withTimes } from './spec/stored-record.ts'
export { formOf } from './config/form.ts'
export { duration, durationSchema, isDuration, isTooShort, printDuration, tooShort } from './spec/duration.ts'
export { isPublicName } from './config/public-name.ts'
export { checkTimeouts } from './config/server-checks.ts'
export { fieldFlaw } from './config/body-fields.ts'
export { didYouMean } from './config/suggest.ts'
export { guessableBy } from './config/guessable.ts'
export { isListed, unknownModel } from './config/listed-models.ts'
export { moduleBeside } from './workers/module-beside.ts'

// Commands: what they print
export { columns, count, printJson, wrap } from './cli/text.ts'
