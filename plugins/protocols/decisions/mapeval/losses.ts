import type { DecideRequest, Loss } from '../../../../engine/index.ts'
import { protocol } from './wire.ts'

/** What a request loses in this envelope. `takesImages`: the provider has a field for them. */
export function lossesOf({ evidence, questions, rest }: DecideRequest, takesImages: boolean): readonly Loss[] {
  const parts = evidence.flat()
  const images = parts.filter((part) => part.type === 'image')
  const losses: Loss[] = []
  if (parts.length - images.length > 1) losses.push({ field: 'input', because: 'its messages became one text' })
  if (images.length > 0 && !takesImages) losses.push({ field: 'images', because: 'the provider takes none' })
  if (takesImages && images.some(({ detail }) => detail !== undefined))
    losses.push({ field: 'detail', because: 'the provider has no such field' })
  const described = questions.some(
    (question) => question.type === 'score' && question.levels.some(({ description }) => description !== undefined),
  )
  if (described) losses.push({ field: 'levels', because: 'their descriptions became a part of the instructions' })
  if (rest && rest.protocol !== protocol)
    for (const field of Object.keys(rest.fields)) losses.push({ field, because: 'the provider has no such field' })
  return losses
}
