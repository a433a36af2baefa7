import { WordTable } from './word-table.ts'

/** Kinds of words that tell something of how hard a request is. A word is of one kind. */
const kinds = {
  factual: 'what which who whom whose when where name define identify called known',
  reasoning:
    'how why explain justify reason because therefore explanation derive prove show verify proof argue infer deduce conclude',
  work: 'design implement write create build optimize optimise refactor debug analyze analyse develop construct generate plan architect architecture algorithm function program code script python javascript java sql',
  light:
    'list summarize summarise translate rewrite paraphrase classify extract correct proofread rephrase convert format tell say recommend suggest greet sort',
  math: 'calculate compute find evaluate solve simplify determine integer integers equation polynomial triangle matrix probability sum product ratio derivative integral prime divisible modulo factor degrees square root circle radius area volume angle real positive value values expression function minimum maximum coefficient sequence perpendicular vector graph vertices points expected number numbers',
  condition: 'if then suppose assume given let each every any such unless whether where otherwise when while until',
  negation: 'not no never except least false incorrect neither nor cannot without none',
  limit:
    'must should exactly only at-most least most maximum minimum always required requirement ensure constraint limit between within',
  compare:
    'best most greatest largest highest primary main likely better worse more less than compare contrast difference similar',
  order: 'first second third next finally step steps before after last previous following',
  everyday:
    'house dog cat kitchen food eat drink water home car school friend friends mother father child children people person man woman boy girl bed room table book door window street store shop money play game music night day morning family animal animals plant plants tree fish bird paper bag box hand hands clothes shoes weather rain snow sun',
  law: 'court defendant plaintiff statute contract liable liability jurisdiction constitutional appeal evidence murder law legal tort negligence state landowner deed seller buyer',
  science:
    'energy force mass velocity acceleration electron electrons atom atoms molecule molecules cell cells protein enzyme gene genes dna reaction acid base ion ions temperature pressure gas liquid solid species organism organisms light wave waves charge current magnetic field planet star stars earth rock rocks experiment student hypothesis',
  human: 'i me my we our you your he she his her him they them their us',
} as const

export type Kind = keyof typeof kinds
export const kindNames = Object.keys(kinds) as readonly Kind[]

/** The index in `kindNames` of each word. */
const kindOf = new Map(
  kindNames.flatMap((kind, index) => kinds[kind].split(' ').map((word): [string, number] => [word, index])).reverse(),
)

/** Words so common that they tell nothing. */
const common =
  'the of and to a in is it that for on was as with be by at this from or an are have has had but which you were all one we there their been if can will would about out up so more when some into them other than its then only over also after use two how our work first well way even new want any these give most us what who whom whose where why do does did make made know take people year years good could see him time no just not like his her she he they i me my your come its now look think back because day get go say said may each many such through between should must being during before under same another while both those last never off own'

/** The number of common words in `known`. */
export const noKind = -1

/** The kinds of words that tell something, by their index in `kindNames`, and the common ones. */
export const known = new WordTable(
  new Map([...common.split(' ').map((word): [string, number] => [word, noKind]), ...kindOf]),
)
