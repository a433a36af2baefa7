import { parser } from '@prometheus-io/lezer-promql'

type Node = ReturnType<typeof parser.parse>['topNode']

/** What a query says of a label. */
export interface Matcher {
  readonly label: string
  readonly operator: '=' | '!=' | '=~' | '!~'
  readonly value: string
}

/** Series that a query reads. */
export interface Selector {
  readonly metric: string
  readonly matchers: readonly Matcher[]
  /** Labels by which the query groups or joins them. */
  readonly grouped: readonly string[]
}

/** What a query reads, in order. Throws if it is no PromQL. */
export function selectorsIn(query: string): Selector[] {
  return below(parser.parse(query).topNode, query, [])
}

function below(node: Node, query: string, around: readonly string[]): Selector[] {
  const textOf = ({ from, to }: Node) => query.slice(from, to)
  if (node.type.isError) throw new Error(`no PromQL at character ${node.from}: ${query}`)
  const grouping = [...node.getChildren('AggregateModifier'), ...node.getChildren('MatchingModifierClause')]
  const own = grouping
    .flatMap((one) => one.getChildren('GroupingLabels'))
    .flatMap((one) => one.getChildren('LabelName'))
  const grouped = [...around, ...own.map(textOf)]
  const inner = childrenOf(node).flatMap((child) => below(child, query, grouped))
  if (node.name !== 'VectorSelector') return inner
  const metric = node.getChild('Identifier')
  if (metric === null) throw new Error(`a selector without a metric: ${query}`)
  const matchers = (node.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? []).map((matcher) => {
    const [label = '', operator, value = '""'] = childrenOf(matcher).map(textOf)
    return { label, operator: operator as Matcher['operator'], value: JSON.parse(value) as string }
  })
  return [{ metric: textOf(metric), matchers, grouped }]
}

function childrenOf(node: Node): Node[] {
  const children: Node[] = []
  for (let child = node.firstChild; child; child = child.nextSibling) children.push(child)
  return children
}

/** Whether a value of a label is one that a query asks for. */
export function fits({ operator, value }: Matcher, actual: string): boolean {
  const isAlike = operator.endsWith('~') ? new RegExp(`^(?:${value})$`).test(actual) : actual === value
  return operator.startsWith('!') ? !isAlike : isAlike
}
