import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect } from 'chai'
import * as contract from '../../engine/index.ts'
import * as kit from '../../engine/kit.ts'
import { root } from './sources.ts'

/** What a plugin can import. Whoever adds a name here promises it to authors; whoever takes one away breaks theirs. */
const promised = {
  'engine/index.ts': {
    values: `
      GatewayError
      Refusal
      defineClientCodec
      defineCodec
      defineCommand
      definePlugin
      defineProvider
      defineRecord
      defineService
      defineSignal
      defineSlot
      defineStage
      defineUpstreamCodec
      noConfig`,
    types: `
      AllRecords
      Amendment
      Annotation
      Answer
      AnswerContent
      Answering
      AnyClientCodec
      AnyCodec
      AnyCommand
      AnyProvider
      AnyRecord
      AnyService
      AnySignal
      AnySlot
      AnyStage
      AnyUpstreamCodec
      Appender
      AppenderOptions
      Ask
      Asked
      AudioPart
      Bill
      Body
      BodyReader
      Budget
      ByteBudget
      CacheMark
      Call
      Candidate
      Catalog
      ChoiceQuestion
      ClientCodec
      Codec
      CommandOutput
      CommandParts
      Completion
      ConfigOf
      Configured
      Cost
      CustomTool
      DecideAnswer
      DecideQuestion
      DecideReply
      DecideRequest
      Deployment
      Dial
      Dialed
      DispatchOptions
      Dispatched
      EitherCodec
      End
      Envelope
      ErrorCode
      ErrorDialect
      ErrorOptions
      ErrorParser
      ErrorPrinter
      ErrorRow
      EventHandler
      EventMap
      EventOf
      EventParser
      EventPrinter
      Evidence
      Facts
      Failure
      FilePart
      Finding
      Flaw
      Flow
      Format
      Frame
      Framing
      FunctionTool
      GenerateEvent
      GenerateReply
      GenerateRequest
      Given
      Gives
      Greeting
      Head
      Held
      HeldBody
      HeldChange
      Hidden
      Host
      HostStatus
      ImagePart
      Ingress
      Input
      Item
      Job
      Jobs
      Json
      JsonObject
      KeyValue
      KnownServices
      Lap
      Leg
      LegSink
      Logprob
      Look
      Loss
      Measurement
      MediaSource
      Message
      Metered
      Mistake
      ModelRecord
      NeutralAnswer
      Offer
      Offering
      OpaqueItem
      OpaquePart
      OpaqueTool
      OpenProvider
      OpenService
      Operation
      Operations
      OptionWords
      Outcome
      Part
      PipelineView
      PlannedOption
      PlannedStep
      Plugin
      PredicateQuestion
      Pricing
      Principal
      PrintTarget
      Printed
      Protocol
      Provider
      ProviderParts
      RateLimit
      Reasoning
      ReasoningWish
      RecordAccess
      RecordChange
      RecordChanged
      RecordField
      RecordName
      RecordParts
      RecordReport
      RecordView
      Records
      RefusalPart
      Relaying
      Reply
      ReplyBody
      ReplyOf
      Report
      RequestOf
      Requester
      Rest
      Restore
      Retry
      RowCounters
      Run
      Running
      RunningState
      Said
      Scope
      ScoreQuestion
      Seal
      Search
      SearchLocation
      SearchWish
      SearchedPage
      SectionView
      ServerSettings
      ServiceConfiguration
      ServiceHost
      ServiceMigration
      ServiceName
      ServiceParts
      Services
      Session
      Settle
      Settled
      Sink
      SlotField
      SlotFields
      SlotName
      SlotParts
      Slots
      SocketDialect
      SocketPrinter
      Source
      SqlDialect
      StageBody
      StageParts
      StagePlace
      StopReason
      StreamGuard
      Style
      TableQueries
      Tables
      Target
      TextPart
      Timing
      Told
      ToldAttempt
      ToldCall
      ToldEnd
      ToldError
      ToldExchange
      ToldReload
      ToldStage
      Tool
      ToolCall
      ToolChoice
      ToolRef
      ToolResult
      TraceContext
      Traits
      TypedRecords
      Units
      Unshown
      Upstream
      UpstreamAddress
      UpstreamAnswer
      UpstreamCodec
      Usage
      Used
      Views
      Vote
      WholeReply`,
  },
  'engine/kit.ts': {
    values: `
      AwsEventStream
      BytesBody
      ChangePoll
      ClientRequest
      CustomInput
      FieldNames
      Fold
      FormReader
      FrameDecoder
      HeadAndTail
      Hold
      Losses
      PairedCalls
      Telling
      WholeFrames
      addressOf
      ampleRoom
      answerHold
      answerOnByteLane
      answering
      asGatewayError
      asText
      asking
      baseUrl
      budgetSchema
      bufferOf
      byteBudgetOf
      byteBudgetSpent
      callable
      collect
      columns
      count
      customInput
      cutMembers
      defined
      dial
      didYouMean
      duration
      durationSchema
      emptyReply
      encodeFrame
      errors
      eventRoom
      eventTooLarge
      failed
      fieldAt
      fitting
      flatName
      fold
      giveBack
      holds
      isDuration
      isLent
      isListed
      isObject
      isPattern
      isVirtual
      joined
      jsonReply
      legalCallId
      mapJson
      mapMembers
      mapText
      mapTexts
      moduleBeside
      momentIn
      objectAfter
      openUpstream
      orderedObject
      packSeal
      parseJson
      parseVerbatim
      parsedJson
      parsedObject
      passedOn
      pasteMembers
      pasteOver
      peek
      placesOf
      printDuration
      printJson
      pull
      putMembers
      rateLimitSchema
      readList
      readQuery
      recordName
      replyJson
      requesterOf
      requireChosen
      requirement
      restored
      scanJson
      scrubbedFailure
      sealPrefix
      searchInWords
      searchWish
      speaksToClients
      speaksToUpstreams
      spliceField
      spliceMember
      spliceString
      spliced
      through
      timeText
      toolNames
      toolsByName
      unfold
      unknownModel
      unpackSeal
      unsaid
      upstreamProperties
      versionsIn
      virtualModels
      whenFree
      within
      word
      wrap`,
    types: `
      CallAnswer
      ClientHeaders
      Cut
      Defined
      Dialing
      EventRoom
      FindTool
      Form
      FormFile
      ListKey
      ListQuery
      Page
      Passed
      Passing
      Polled
      Query
      QueryField
      QueryFields
      Question
      ReplyOptions
      ScanOptions
      ScannedJson
      SchemaError
      SearchFields
      TextChange
      ToolNames
      Transform
      UpstreamParts
      UpstreamSettings
      Verbatim
      Wish`,
  },
}

/** The names that a module exports, of values and of types, read from its text and from those that it passes on. */
function exportsOf(file: string): { readonly values: Set<string>; readonly types: Set<string> } {
  const text = readFileSync(file, 'utf8')
  const values = new Set<string>()
  const types = new Set<string>()
  for (const [, kind = '', name = ''] of text.matchAll(
    /^export (?:abstract )?(?:async )?(function\*?|const|class|interface|type) (\w+)/gm,
  ))
    (kind === 'interface' || kind === 'type' ? types : values).add(name)
  for (const [, type, from = ''] of text.matchAll(/^export (type )?\* from '(.+)'/gm)) {
    const inner = exportsOf(join(dirname(file), from))
    for (const name of inner.types) types.add(name)
    for (const name of inner.values) (type === undefined ? values : types).add(name)
  }
  for (const [, type, names = ''] of text.matchAll(/^export (type )?\{([^}]*)\} from/gm))
    for (const name of names.split(',').map((name) => name.trim()))
      if (name !== '') (type === undefined ? values : types).add(name)
  return { values, types: types.difference(values) }
}

const words = (text: string) => text.trim().split(/\s+/)

describe('the doors', () => {
  for (const [file, { values, types }] of Object.entries(promised))
    it(`show of ${file} what is promised, and nothing by accident`, () => {
      const found = exportsOf(join(root, file))
      expect([...found.values].sort()).to.deep.equal(words(values).sort())
      expect([...found.types].sort()).to.deep.equal(words(types).sort())
      expect(Object.keys(file.endsWith('kit.ts') ? kit : contract).sort()).to.deep.equal(words(values).sort())
    })

  it('show every name in one of them', () => {
    const seen = Object.values(promised).map(({ values, types }) => new Set([...words(values), ...words(types)]))
    expect([...(seen[0] ?? new Set()).intersection(seen[1] ?? new Set())]).to.deep.equal([])
  })
})
