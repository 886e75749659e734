type Claims = Readonly<Record<string, unknown>>;

export interface EmailClaims {
  email: string;
  /** Whether the issuer has verified the address; `undefined` if it does not say. */
  verified: boolean | undefined;
}

/**
 * Reads an email address with its `email_verified` (OpenID Connect Core 1.0, section 5.1).
 * @param sources claims about one subject, such as those of the ID token and of the userinfo response. The first
 *   address counts, with what any of them says about it.
 * @returns `undefined` if they have no address
 */
export function readEmailClaims(...sources: readonly Claims[]): EmailClaims | undefined {
  const email = sources.map((claims) => claims['email'] ?? undefined).find((value) => value !== undefined);
  if (typeof email !== 'string') return undefined;
  const statements = sources.flatMap((claims) => {
    const verified = parseVerified(claims['email_verified']);
    return verified === undefined ? [] : [{ verified, sameAddress: claims['email'] === email }];
  });
  const statement = statements.find(({ sameAddress }) => sameAddress);
  // `false` counts for any address; `true` for another address confirms nothing.
  const denied = statements.some(({ verified }) => !verified) ? false : undefined;
  return { email, verified: statement?.verified ?? denied };
}

/** Amazon Cognito sends text. A claim that is null is one that was not returned (OpenID Connect Core 1.0, 5.3.2). */
function parseVerified(value: unknown): boolean | undefined {
  return value === undefined || value === null ? undefined : value === true || value === 'true';
}
