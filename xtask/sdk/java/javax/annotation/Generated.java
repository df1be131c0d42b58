package javax.annotation;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;

/** What the generator marks its classes with. It has left the JDK; with Maven, jakarta.annotation-api brings it. */
@Retention(RetentionPolicy.SOURCE)
public @interface Generated {
    /** The generator. */
    String[] value();

    /** Its version. */
    String comments() default "";
}
