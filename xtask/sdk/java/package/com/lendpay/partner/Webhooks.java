package com.lendpay.partner;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.security.InvalidKeyException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SignatureException;
import java.time.Instant;
import java.util.Base64;
import java.util.function.UnaryOperator;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Verifies requests of webhooks by the Standard Webhooks specification. */
public final class Webhooks {
    /** How many seconds a timestamp may be off. */
    private static final long TOLERANCE = 300;

    private static final String ALGORITHM = "HmacSHA256";
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private final SecretKeySpec key;

    /** By a secret, which begins with "whsec_". */
    public Webhooks(String secret) {
        key = new SecretKeySpec(Base64.getDecoder().decode(secret.replaceFirst("^whsec_", "")), ALGORITHM);
    }

    /**
     * The event in a request that was signed with the secret just now.
     *
     * @param header the value of a request's header, null without it
     * @param body what arrived, before it is parsed
     * @throws SignatureException if the request is none of that kind
     * @throws IOException if the body is no JSON
     */
    public JsonNode verify(UnaryOperator<String> header, byte[] body) throws SignatureException, IOException {
        var timestamp = required(header, "webhook-timestamp");
        var expected = signature(required(header, "webhook-id") + "." + timestamp + ".", body);
        checkTime(timestamp);
        for (var signature : required(header, "webhook-signature").split(" ")) {
            if (MessageDigest.isEqual(expected.getBytes(UTF_8), signature.getBytes(UTF_8))) {
                return MAPPER.readTree(body);
            }
        }
        throw new SignatureException("no signature is made with this secret");
    }

    private String signature(String head, byte[] body) {
        try {
            var mac = Mac.getInstance(ALGORITHM);
            mac.init(key);
            mac.update(head.getBytes(UTF_8));
            return "v1," + Base64.getEncoder().encodeToString(mac.doFinal(body));
        } catch (NoSuchAlgorithmException | InvalidKeyException error) {
            throw new IllegalStateException("every JDK has " + ALGORITHM + ", for any key", error);
        }
    }

    private static void checkTime(String timestamp) throws SignatureException {
        if (!timestamp.matches("[0-9]{1,18}")) {
            throw new SignatureException("webhook-timestamp is no number");
        }
        long now = Instant.now().getEpochSecond();
        long sent = Long.parseLong(timestamp);
        if (sent < now - TOLERANCE || sent > now + TOLERANCE) {
            throw new SignatureException("webhook-timestamp is more than five minutes off");
        }
    }

    private static String required(UnaryOperator<String> header, String name) throws SignatureException {
        var value = header.apply(name);
        if (value == null) {
            throw new SignatureException(name + " is missing");
        }
        return value;
    }
}
