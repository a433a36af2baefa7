import { shortId } from '../../format.ts'
import { Card } from '../../parts/Card.tsx'
import { CopyButton } from '../../parts/CopyButton.tsx'
import { Fact, Facts } from '../../parts/Facts.tsx'
import { Moment } from '../../parts/Moment.tsx'
import { useNames } from '../../parts/useNames.ts'
import type { Key } from './api.ts'
import { MomentOrNever } from './columns.tsx'
import { words } from './words.ts'
import classes from './keys.module.css'

/** What is known of a key and cannot be changed. */
export function AboutKey({ record }: { readonly record: Key }) {
  const { id, hint, last_used_at: used, created_at: created, created_by: by, rotated_at: rotated, source } = record
  const author = useNames('member').find(({ value }) => value === by)?.label ?? by
  const names = words.columns
  return (
    <Card title={words.about}>
      <Facts>
        <Fact name={words.id}>
          <span className={classes.name}>
            <code title={id}>{shortId(id)}</code>
            <CopyButton text={id} what={words.copyId} />
          </span>
        </Fact>
        <Fact name={names.hint}>{hint === null ? words.notShown : <code>{hint}</code>}</Fact>
        <Fact name={names.source}>{words.sources[source]}</Fact>
        <Fact name={names.lastUsed}>
          <MomentOrNever at={used} />
        </Fact>
        {created !== null && (
          <Fact name={names.created}>
            <Moment at={created} />
          </Fact>
        )}
        {author !== null && <Fact name={words.createdBy}>{author}</Fact>}
        {rotated !== null && (
          <Fact name={words.rotatedAt}>
            <Moment at={rotated} />
          </Fact>
        )}
      </Facts>
    </Card>
  )
}
