/** The words of a decision of smart routing. */
export const words = {
  title: 'Decision',
  why: (model: string) => `Why ${model}`,
  refused: 'No model was chosen',
  asked: (mode: string, tier: string) => `${mode} → ${tier}`,
  confidence: (value: string) => `confidence ${value}`,
  scale: (complexity: string, tier: string) => `Complexity ${complexity}, tier ${tier}`,
  gain: {
    hard: (value: string) => `Benefit ${value}: it is hard, but the dear one would hardly do better.`,
    medium: (value: string) => `Benefit ${value}: it is not easy, but the dear one would hardly do better.`,
    less: (value: string) => `Benefit ${value}: a dearer model gains less than the complexity tells.`,
    usual: (value: string) => `Benefit ${value}: a dearer model gains about what the complexity tells.`,
    more: (value: string) => `Benefit ${value}: a dearer model gains more than the complexity tells.`,
  },
  blended: (value: string) => `Signals ${value}`,
  vote: (signal: string, value: string) => `${signal} ${value}`,
  voteShare: (share: string) => `${share} of the result`,
  silent: (signal: string) => `${signal} abstains`,
  missing: { late: (signal: string) => `${signal} late`, failed: (signal: string) => `${signal} failed` },
  judgeMark: (value: string) => `Judge ${value}`,
  signals: 'Signals',
  candidate: 'Candidate',
  candidates: 'Candidates',
  score: 'Score',
  outcome: 'What became of it',
  served: 'served',
  first: 'first choice',
  incumbent: 'had the conversation',
  expected: (cost: string) => `${cost} expected`,
  out: (gate: string) => `out: ${gate}`,
  gates: {
    allowlist: 'the allowlist of the key',
    constraints: 'what the request excludes',
    assignment: 'not assigned to this mode',
    images: 'takes no images',
    tools: 'takes no tools',
    context: 'does not fit into its context',
    money: 'costs more than may be spent',
    quality: 'quality gate',
  } as Readonly<Record<string, string>>,
  more: (count: string) => `${count} more candidates`,
  saved: (amount: string, baseline: string) => `saved ${amount} against ${baseline}`,
  savedNothing: (amount: string) => `saved ${amount}`,
  predicted: (cost: string, baseline: string) => `${cost} expected, ${baseline} by the baseline`,
  judge: 'Judge',
  shadow: 'shadow',
  applied: 'applied',
  held: 'held',
  mass: (tier: string, part: string) => `${tier} ${part}`,
  agrees: 'agrees',
  differs: (tier: string) => `the signals say ${tier}`,
  judgeErrors: {
    deadline: 'no verdict: its deadline was over',
    unreachable: 'no verdict: it was not reached',
    unparseable: 'no verdict: its answer could not be read',
    refused: 'no verdict: it refused to answer',
    abstained: 'no verdict: the text does not tell',
    ambiguous: 'no verdict: two tiers are equally likely',
    circuit_open: 'not asked: it failed too often',
  } as Readonly<Record<string, string>>,
  judgeError: (error: string) => `no verdict: ${error}`,
  wouldAsk: 'The judge would be asked.',
  wouldNotAsk: 'The judge would not be asked.',
  because: {
    off: 'It is off.',
    refused: 'The request is refused before.',
    mode: 'It is not asked in this mode.',
    background: 'It is not asked for requests in the background.',
    later_turn: 'It is asked in the first turn alone.',
    gate: 'The decision is clear enough.',
    gate_fired: 'The decision is not clear enough.',
    sampled: 'The request is one of the sample.',
    budget: 'The budget does not allow for it.',
  } as Readonly<Record<string, string>>,
  reasons: 'Reasons',
  undiagnosed:
    'Votes, scores and excluded models were not kept. They are with the setting Diagnostics of smart routing, or with tracing in your account.',
  toSettings: 'Routing settings',
  toAccount: 'Account',
  rating: 'Right model?',
  tooWeak: 'Too weak',
  right: 'Right',
  tooStrong: 'Too strong',
  rated: 'Thank you: it is noted.',
} as const

const floors: Readonly<Record<string, string>> = {
  vision: 'the last message has an image',
  structured_output: 'a JSON schema is demanded',
  final_verification: 'the work is verified after changes',
}

const broken: Readonly<Record<string, string>> = {
  gate: 'The model of the conversation does not pass a gate, so another one goes on.',
  circuit: 'The provider of the conversation fails, so another model goes on.',
  tier: 'The conversation has become too hard for its model, so another one goes on.',
}

const degraded: Readonly<Record<string, string>> = {
  assignment: 'No model is assigned to this mode, so the assignment is ignored.',
  context: 'Request and answer fit into no context, so the largest one is taken.',
}

/** A part of the reasoning as a tag and its sentence; undefined: it stays text. */
export function noteOf(part: string): { readonly tag: string; readonly sentence: string } | undefined {
  const [name, rest] = split(part, '=')
  const [what, more] = split(rest, ':')
  if (name === 'floor')
    return { tag: `floor ${what}`, sentence: `At least ${more}, because ${floors[what] ?? 'a floor says so'}.` }
  if (name === 'cap') return { tag: `cap ${what}`, sentence: `At most ${more}, because the last steps went well.` }
  if (name === 'degraded')
    return { tag: `degraded ${rest}`, sentence: degraded[rest] ?? 'A preference was given up instead of failing.' }
  if (name === 'explore') return { tag: 'exploration', sentence: `${more} is tried, because little is known of it.` }
  if (name === 'circuit') return { tag: 'circuit open', sentence: `${rest} fails at present: its models go last.` }
  if (name === 'continuity')
    return { tag: 'no continuity', sentence: 'What served the conversation before could not be read.' }
  if (name === 'judge') return { tag: 'judge', sentence: `The judge has decided the tier: ${rest}.` }
  if (name === 'judge-held')
    return { tag: 'judge held', sentence: `The judge said ${rest}, which does not reach its bar.` }
  if (name === 'sticky')
    return what === 'broken'
      ? { tag: 'switched', sentence: broken[more] ?? 'Another model goes on with the conversation.' }
      : { tag: 'sticky', sentence: `${rest} goes on with the work that it began.` }
  return undefined
}

function split(text: string, between: string): readonly [string, string] {
  const at = text.indexOf(between)
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}
