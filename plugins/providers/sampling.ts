/**
 * Which of temperature, top_p and top_k the models of native vendors take: the trait `sampling`, by names with `*`, of
 * which the first that fits counts (platform.openai.com/docs/guides/latest-model, "parameter compatibility": models of
 * the fifth generation take them with the effort `none` alone, the first ones and all `o` models never).
 */
export const nativeSampling = {
  '*gpt-5*-chat*': 'all',
  '*gpt-5.*-codex*': 'none',
  '*gpt-5.*-pro*': 'none',
  '*gpt-5.*': 'unless_effort',
  '*gpt-5*': 'none',
  'o1*': 'none',
  'o3*': 'none',
  'o4*': 'none',
} as const

/**
 * The same for Claude, at its vendor and in Bedrock (platform.claude.com/docs/en/about-claude/models/migration-guide):
 * from Opus 4.7 on, models refuse all of them, and from Opus 4.1 on temperature and top_p together.
 */
export const claudeSampling = {
  '*claude-2*': 'all',
  '*claude-3*': 'all',
  '*claude-instant*': 'all',
  '*claude-*-4-1*': 'one',
  '*claude-*-4-5*': 'one',
  '*claude-*-4-6*': 'one',
  '*claude-*-4-7*': 'none',
  '*claude-*-4-8*': 'none',
  '*claude-*-4-9*': 'none',
  '*claude-*-4*': 'all',
  '*claude-*-5*': 'none',
  '*claude-*-6*': 'none',
  '*claude-*-7*': 'none',
} as const
