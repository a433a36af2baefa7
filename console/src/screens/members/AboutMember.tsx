import { Link } from '@tanstack/react-router'
import { shortId } from '../../format.ts'
import { Card } from '../../parts/Card.tsx'
import { CopyButton } from '../../parts/CopyButton.tsx'
import { Fact, Facts } from '../../parts/Facts.tsx'
import { Moment } from '../../parts/Moment.tsx'
import type { Member } from './api.ts'
import { words } from './words.ts'
import classes from './members.module.css'

/** What is known of a member and cannot be changed here. */
export function AboutMember({ member }: { readonly member: Member }) {
  const { id, role, keys, created_at: created, last_login_at: last } = member
  const names = words.columns
  return (
    <Card title={words.about}>
      <Facts>
        <Fact name={words.id}>
          <span className={classes.inline}>
            <code title={id}>{shortId(id)}</code>
            <CopyButton text={id} what={words.copyId} />
          </span>
        </Fact>
        <Fact name={names.role}>{words.roles[role]}</Fact>
        <Fact name={names.keys}>
          {keys === 0 ? (
            words.noKeys
          ) : (
            <Link to="/keys" search={{ owner: id }}>
              {words.keysOf(keys)}
            </Link>
          )}
        </Fact>
        <Fact name={names.lastLogin}>{last === null ? words.never : <Moment at={last} />}</Fact>
        <Fact name={names.created}>
          <Moment at={created} />
        </Fact>
      </Facts>
    </Card>
  )
}
