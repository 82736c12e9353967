# What the public pages, and the emails to guests, say.
#
# Texts in braces are filled in: keep their names. Every language has the same messages with the same names in braces; a
# test checks it. A host's or a guest's own words are never translated. en.ftl says where each message is used.

### Every page

skip = Ir al contenido
footer-booking = Reservas a través de Kalends
footer-console = Calendarios a través de Kalends
footer-invitation = Invitación a través de Kalends
language = Idioma
optional = (opcional)
error-title = Error: { $title }
place = Lugar
call = Llamada
place-label = Lugar:
call-label = Llamada:

### Times

time-to = a
# These follow “el” in the emails below.
when-times = { $date }, de { $start } a { $end } ({ $zone })
when-days = { $date }, { $start }, hasta el { $last }, { $end } ({ $zone })
when-all-day = { $date }, todo el día
when-all-days = { $date }, hasta el { $last }, todo el día
dates = del { $date }, al { $last }
all-day = Todo el día
minutes = { $count ->
    [one] { $count } minuto
   *[other] { $count } minutos
}
hours = { $count ->
    [one] { $count } hora
   *[other] { $count } horas
}
hours-and-minutes = { $hours } y { $minutes }

### The page of a host: days and times to choose from

book-a-time = Reserve un horario
title-with-host = { $title } con { $host }
online = En línea. Recibirá el enlace al hacer la reserva.
months = Meses
previous-month = Mes anterior
next-month = Mes siguiente
step-to-month = { $step }, { $month }
heading-with-count = { $heading }, { $count }
today = { $day }, hoy
free-days = { $count ->
    [0] sin días disponibles
    [one] { $count } día disponible
   *[other] { $count } días disponibles
}
free-times = { $count ->
    [0] sin horarios disponibles
    [one] { $count } horario disponible
   *[other] { $count } horarios disponibles
}
times-are-shown-in = Zona horaria
switch = Cambiar
switch-zone = Cambiar la zona horaria
hosts-time = Mostrar la hora del anfitrión: { $zone }
morning = Mañana
afternoon = Tarde
# From 17:00, which is not yet “noche”.
evening = Tarde-noche
nothing-free-in = No hay horarios disponibles en { $month }
first-free-day = El primer día disponible es el { $day }.
nothing-free = No hay horarios disponibles por ahora. Cuando cambian los planes, se liberan horarios: vale la pena volver a mirar otro día.
move-title = Reprogramar su reserva: { $title }
move-hint = Elija otro horario. El actual sigue reservado hasta que confirme el nuevo:
zones-here = Aquí
zones-africa = África
zones-america = América
zones-asia = Asia
zones-pacific = Australia y Pacífico
zones-europe = Europa
zones-other = Otras

### The form of a booking

your-details = Sus datos
details-title = Sus datos: { $title }
choose-another = Elegir otro horario
nothing-booked = Aún no se ha reservado nada.
please-correct = Corrija lo siguiente:
name = Nombre
email = Correo electrónico
email-hint = Para la confirmación, con enlaces para cancelar o reprogramar la reserva.
notes = Notas
your-answers = Sus respuestas
choose-one = Elija una opción
no-answer = Sin respuesta
leave-empty = Deje este campo vacío
book-at = Reservar: { $day }, { $time }
problem-required = Este campo es obligatorio.
problem-too-long = { $max ->
    [one] Use { $max } carácter como máximo.
   *[other] Use { $max } caracteres como máximo.
}
problem-email = Escriba una dirección de correo completa, como nombre@example.com.
problem-phone = Escriba un número de teléfono, como +49 30 123456.
problem-choice = Elija una de las opciones.
problem-tick = Marque esta casilla para continuar.
problem-other = Esto no se puede usar. Por favor, cámbielo.
problem-answers = Las respuestas son demasiado largas en conjunto. Por favor, acórtelas.

### After a booking

you-are-booked = Reserva confirmada
booked-title = Reserva confirmada: { $title }
moved-heading = Reserva reprogramada
moved-title = Reserva reprogramada: { $title }
no-longer-at = El horario anterior ({ $date }, { $time }) ya no es válido.
confirmation-sent = La confirmación está en camino a { $address }.
add-to-calendar = Guardar en su calendario
calendar-file = Archivo de calendario (.ics)
change-it = Cambiar la reserva
move-it = Reprogramar
cancel-it = Cancelar

### The chosen time is gone

taken = Este horario acaba de ocuparse
taken-title = Este horario acaba de ocuparse: { $title }
taken-now = El horario elegido ({ $date }, { $time }) ya no está disponible. No se ha hecho ninguna reserva.
taken-unmoved = El horario elegido ({ $date }, { $time }) ya no está disponible. Su reserva no ha cambiado.
nearest-times = Los horarios disponibles más cercanos
none-left = No hay ningún otro horario disponible por ahora.
book-instead = Reservar este
choose-this = Elegir este
input-kept = Se mantiene lo que ha escrito.
times-are-in = Zona horaria: { $zone }.
see-all-times = Ver todos los horarios disponibles

### Moving a booking

confirm-move-title = Confirmar el nuevo horario: { $title }
confirm-move = ¿Reprogramar su reserva para este horario?
currently-at = El horario actual ({ $date }, { $time }) quedará disponible para otras personas.
move-button = Reprogramar la reserva

### Cancelling a booking

cancel-question = ¿Cancelar esta reserva?
booked-by = Reserva a nombre de { $name }. Si la cancela, el horario quedará disponible para otras personas.
cancelled-now = Su reserva está cancelada
cancelled-now-text = El horario está disponible para otras personas. No tiene que hacer nada más.
cancelled-before = Esta reserva ya estaba cancelada
cancelled-before-text = Ya no es válida. No tiene que hacer nada más.
past = Esta reserva ya no se puede cambiar
past-text = Ya ha empezado o ha terminado. Si algo ha cambiado, escriba al anfitrión.
cancel-button = Cancelar la reserva
move-instead = Mejor reprogramar
keep-it = Si quiere mantenerla, basta con cerrar esta página.
book-another = Reservar otro horario

### Whether a host gets emails about bookings

emails-title = Correos sobre reservas: { $title }
emails-heading = Correos sobre reservas
emails-asked = { $organization } quiere enviarle un correo cuando alguien haga, reprograme o cancele una reserva en la página «{ $title }».
emails-question = ¿Quiere recibir estos correos en { $address }?
emails-sent = Recibirá un correo en { $address } cuando alguien haga, reprograme o cancele una reserva en la página «{ $title }».
emails-stopped = No recibirá correos en { $address } sobre las reservas de la página «{ $title }».
emails-send = Recibir estos correos
emails-refuse = No recibirlos
emails-stop = Dejar de recibirlos
emails-hint = Puede cambiarlo aquí en cualquier momento.

### Where replies to emails go

replies-heading = Respuestas a los correos
replies-question = { $organization } quiere que las respuestas a los correos que envía, por ejemplo a las invitaciones, lleguen a { $address }. ¿Está de acuerdo?
replies-agreed = Las respuestas a los correos de { $organization } llegan a { $address }.
replies-stopped = Las respuestas a los correos de { $organization } no llegan a { $address }.
replies-agree = Recibir las respuestas aquí
replies-refuse = No recibirlas
replies-stop = Dejar de recibir respuestas

### Invitations

invitation-title = Invitación: { $title }
invites-you = Invitación de { $organizer }
you-accepted = Invitación aceptada.
you-replied-maybe = Su respuesta: quizás.
you-declined = Invitación rechazada.
reply-recorded = Su respuesta ha quedado registrada. Puede cambiarla aquí en cualquier momento antes de que termine el evento.
reply-changeable = Puede cambiar su respuesta más abajo.
event-cancelled = Este evento está cancelado.
event-cancelled-text = No tiene que hacer nada.
event-over = Este evento ya ha terminado.
event-over-text = Ya no admite respuestas.
event-repeats = Este evento se repite. Empieza en esta fecha y su respuesta vale para todas las fechas.
reply-not-recorded = Su respuesta no se ha registrado.
choose-a-reply = Elija una de las tres respuestas.
note-to-organizer = Nota para el organizador
accept = Aceptar
maybe = Quizás
decline = Rechazar
reply-as = Responde como { $email }. El organizador verá su respuesta y su nota; los demás invitados, no.

### Instead of a page

no-page = Aquí no hay ninguna página de reservas
no-page-text = Puede que la dirección esté mal escrita o incompleta, o que la página se haya retirado.
no-page-advice = Pida un enlace nuevo a la persona que se lo envió. Las reservas existentes no se ven afectadas.
no-console-page = Aquí no hay ninguna página
no-console-page-text = Es posible que la dirección esté mal escrita o incompleta.
go-to-console = Ir a la consola
not-accepted = No se ha podido hacer
not-accepted-text = Es posible que el formulario esté anticuado o venga de otra página. Vuelva atrás, cargue la página de nuevo e inténtelo otra vez.
other-address = Esta página se ha abierto en otra dirección
other-address-text = Ábrala en { $address } e inténtelo de nuevo.
closed = Las reservas están cerradas por ahora
closed-text = Por el momento no se pueden hacer más reservas. Las existentes no se ven afectadas.
closed-advice = Vuelva a intentarlo otro día o escriba a la persona con la que quiere reunirse.
no-booking = Este enlace no lleva a ninguna reserva
no-booking-text = Puede que el enlace esté incompleto o que la reserva se haya eliminado. Use el enlace completo de su confirmación.
not-moved = Esta reserva no se puede reprogramar
not-moved-text = La página en la que reservó ya no acepta reservas o está desactivada. Su reserva no se ve afectada. Puede cancelarla con el enlace de su confirmación.
no-invitation = Este enlace no lleva a ninguna invitación
no-invitation-text = Puede que el enlace esté incompleto, que el evento se haya eliminado o que usted ya no esté entre los invitados.
no-invitation-advice = Use el enlace completo del correo más reciente sobre el evento.
no-reply-link = Este enlace ya no funciona
no-reply-link-text = Puede que esté incompleto, que un correo más reciente lo haya reemplazado o que haya caducado. No ha cambiado nada.
no-reply = Su respuesta no se ha registrado
no-reply-text = Abra de nuevo el enlace del correo y elija una de las respuestas.
too-many = Un momento, por favor
too-many-text = Han llegado muchas solicitudes desde su red en poco tiempo.
too-many-seconds = { $count ->
    [one] Espere un segundo y vuelva a intentarlo. No ha cambiado nada.
   *[other] Espere { $count } segundos y vuelva a intentarlo. No ha cambiado nada.
}
too-many-minutes = { $count ->
    [one] Espere un minuto y vuelva a intentarlo. No ha cambiado nada.
   *[other] Espere { $count } minutos y vuelva a intentarlo. No ha cambiado nada.
}
not-offered = Este horario no se puede reservar
not-offered-text = El enlace indica un horario que esta página no ofrece. Elija uno de los horarios disponibles.
failed = Ha habido un problema por nuestra parte
failed-text = No se ha podido completar su solicitud. Vuelva a intentarlo en un minuto.
failed-number = Si vuelve a ocurrir, indique este número al anfitrión: { $number }
see-free-times = Ver los horarios disponibles

### Emails to guests. Each begins with the greeting, and ends with the signature.

mail-greeting = Hola:
mail-signature = Kalends, el backend de calendario para agentes de IA. Kalends no lee las respuestas.
mail-booking = Su reserva «{ $title }»
mail-booking-with = Su reserva «{ $title }» con { $host }
mail-booked-subject = Su reserva está confirmada
mail-booked = { $booking } está confirmada para el { $when }.
mail-moved-subject = Su reserva se ha reprogramado
mail-moved = { $booking } se ha reprogramado para el { $when }.
mail-reminder-subject = Recordatorio: { $title }
mail-reminder = { $booking } es el { $when }.
mail-cancelled-subject = Su reserva está cancelada
mail-cancelled = { $booking } está cancelada. Estaba prevista para el { $when }. No tiene que hacer nada.
mail-called-off-subject = Su reserva se ha cancelado
mail-called-off = { $booking } ha sido cancelada por el anfitrión. Estaba prevista para el { $when }.
mail-host-writes = Mensaje del anfitrión:
mail-book-another = Para reservar otro horario:
mail-move = Para elegir otro horario:
mail-cancel = Para cancelar la reserva:
mail-links-are-secret = Cualquiera que tenga estos enlaces puede hacerlo: no reenvíe este mensaje. Si usted no hizo esta reserva, alguien indicó su dirección por error; cancele la reserva o ignore este mensaje.
mail-place = Lugar: { $place }
mail-call = Llamada:
calendar-move = Para elegir otro horario:
