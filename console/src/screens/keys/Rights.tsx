import { Allowlist } from '../../parts/Allowlist.tsx'
import { Fact, Facts } from '../../parts/Facts.tsx'
import { rateText } from '../../parts/rate-limit.ts'
import type { Key } from './api.ts'
import { MomentOrNever, Tags } from './columns.tsx'
import { words } from './words.ts'

/** What a key may do, for those who cannot change it. */
export function Rights({ record }: { readonly record: Key }) {
  const { owner, models, mcp_servers: servers, rate_limit: limit, expires_at: expires, tags } = record
  const names = words.columns
  return (
    <Facts>
      <Fact name={names.owner}>{owner?.username ?? words.nobody}</Fact>
      <Fact name={names.models}>
        <Allowlist names={models} />
      </Fact>
      <Fact name={names.servers}>
        <Allowlist names={servers} all={words.allServers} />
      </Fact>
      <Fact name={names.limits}>{limit ? rateText(limit) : words.unlimited}</Fact>
      <Fact name={names.expires}>
        <MomentOrNever at={expires} />
      </Fact>
      <Fact name={names.tags}>
        <Tags tags={tags} />
      </Fact>
    </Facts>
  )
}
