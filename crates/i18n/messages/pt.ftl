# What the public pages, and the emails to guests, say.
#
# Texts in braces are filled in: keep their names. Every language has the same messages with the same names in braces; a
# test checks it. A host's or a guest's own words are never translated. en.ftl says where each message is used.

### Every page

skip = Ir para o conteúdo
footer-booking = Reservas via Kalends
footer-console = Agendas via Kalends
footer-invitation = Convite via Kalends
language = Idioma
optional = (opcional)
error-title = Erro: { $title }
place = Local
call = Chamada
place-label = Local:
call-label = Chamada:

### Times

time-to = às
# These follow “para” in the emails below.
when-times = { $date }, das { $start } às { $end } ({ $zone })
when-days = { $date }, { $start }, até { $last }, { $end } ({ $zone })
when-all-day = { $date }, dia inteiro
when-all-days = { $date }, até { $last }, dia inteiro
dates = de { $date }, a { $last }
all-day = Dia inteiro
minutes = { $count ->
    [one] { $count } minuto
   *[other] { $count } minutos
}
hours = { $count ->
    [one] { $count } hora
   *[other] { $count } horas
}
hours-and-minutes = { $hours } e { $minutes }

### The page of a host: days and times to choose from

book-a-time = Reserve um horário
title-with-host = { $title } com { $host }
online = Online. O link é fornecido após a reserva.
months = Meses
previous-month = Mês anterior
next-month = Mês seguinte
step-to-month = { $step }, { $month }
heading-with-count = { $heading }, { $count }
today = { $day }, hoje
free-days = { $count ->
    [0] sem dias disponíveis
    [one] { $count } dia disponível
   *[other] { $count } dias disponíveis
}
free-times = { $count ->
    [0] sem horários disponíveis
    [one] { $count } horário disponível
   *[other] { $count } horários disponíveis
}
times-are-shown-in = Fuso horário
switch = Alterar
switch-zone = Alterar o fuso horário
hosts-time = Mostrar a hora do anfitrião: { $zone }
morning = Manhã
afternoon = Tarde
# From 17:00, which is not yet “noite”.
evening = Fim de tarde e noite
nothing-free-in = Não há horários disponíveis em { $month }
first-free-day = O primeiro dia disponível é { $day }.
nothing-free = Não há horários disponíveis no momento. Quando os planos mudam, há horários que voltam a ficar disponíveis: vale a pena consultar de novo outro dia.
move-title = Reagendar sua reserva: { $title }
move-hint = Escolha outro horário. O atual continua reservado até que confirme o novo:
zones-here = Aqui
zones-africa = África
zones-america = América
zones-asia = Ásia
zones-pacific = Austrália e Pacífico
zones-europe = Europa
zones-other = Outros

### The form of a booking

your-details = Seus dados
details-title = Seus dados: { $title }
choose-another = Escolher outro horário
nothing-booked = Nada foi reservado ainda.
please-correct = Por favor, corrija:
name = Nome
email = E-mail
email-hint = Para a confirmação, com links para cancelar ou reagendar a reserva.
notes = Observações
your-answers = Suas respostas
choose-one = Escolha uma opção
no-answer = Sem resposta
leave-empty = Deixe este campo em branco
book-at = Reservar: { $day }, { $time }
problem-required = Este campo é obrigatório.
problem-too-long = { $max ->
    [one] Use no máximo { $max } caractere.
   *[other] Use no máximo { $max } caracteres.
}
problem-email = Indique um endereço de e-mail completo, como nome@example.com.
problem-phone = Indique um número de telefone, como +49 30 123456.
problem-choice = Escolha uma das opções.
problem-tick = Marque esta caixa para continuar.
problem-other = Isto não pode ser usado. Por favor, altere.
problem-answers = As respostas são longas demais em conjunto. Por favor, encurte-as.

### After a booking

you-are-booked = Reserva confirmada
booked-title = Reserva confirmada: { $title }
moved-heading = Reserva reagendada
moved-title = Reserva reagendada: { $title }
no-longer-at = O horário anterior ({ $date }, { $time }) não vale mais.
confirmation-sent = A confirmação está a caminho de { $address }.
add-to-calendar = Adicionar ao calendário
calendar-file = Arquivo de calendário (.ics)
change-it = Alterar a reserva
move-it = Reagendar
cancel-it = Cancelar

### The chosen time is gone

taken = Este horário acabou de ser ocupado
taken-title = Este horário acabou de ser ocupado: { $title }
taken-now = O horário escolhido ({ $date }, { $time }) não está mais disponível. Nenhuma reserva foi feita.
taken-unmoved = O horário escolhido ({ $date }, { $time }) não está mais disponível. Sua reserva não foi alterada.
nearest-times = Os horários disponíveis mais próximos
none-left = Não há outro horário disponível no momento.
book-instead = Reservar este
choose-this = Escolher este
input-kept = Os dados preenchidos são mantidos.
times-are-in = Fuso horário: { $zone }.
see-all-times = Ver todos os horários disponíveis

### Moving a booking

confirm-move-title = Confirmar o novo horário: { $title }
confirm-move = Reagendar sua reserva para este horário?
currently-at = O horário atual ({ $date }, { $time }) ficará disponível para outras pessoas.
move-button = Reagendar a reserva

### Cancelling a booking

cancel-question = Cancelar esta reserva?
booked-by = Reserva em nome de { $name }. Se cancelar, o horário ficará disponível para outras pessoas.
cancelled-now = Sua reserva está cancelada
cancelled-now-text = O horário está disponível para outras pessoas. Não é preciso fazer mais nada.
cancelled-before = Esta reserva já estava cancelada
cancelled-before-text = Deixou de ser válida. Não é preciso fazer mais nada.
past = Já não é possível alterar esta reserva
past-text = Já começou ou já terminou. Se algo mudou, escreva ao anfitrião.
cancel-button = Cancelar a reserva
move-instead = Prefiro reagendar
keep-it = Para manter a reserva, basta fechar esta página.
book-another = Reservar outro horário

### Whether a host gets emails about bookings

emails-title = E-mails sobre reservas: { $title }
emails-heading = E-mails sobre reservas
emails-asked = { $organization } quer enviar um e-mail a você quando alguém fizer, reagendar ou cancelar uma reserva na página “{ $title }”.
emails-question = Quer receber estes e-mails em { $address }?
emails-sent = Um e-mail é enviado para { $address } quando alguém faz, reagenda ou cancela uma reserva na página “{ $title }”.
emails-stopped = Não são enviados e-mails para { $address } sobre as reservas na página “{ $title }”.
emails-send = Receber estes e-mails
emails-refuse = Não receber
emails-stop = Deixar de receber
emails-hint = Esta escolha pode ser alterada aqui a qualquer momento.

### Where replies to emails go

replies-heading = Respostas aos e-mails
replies-question = { $organization } quer que as respostas aos e-mails que envia, como convites, sejam enviadas para { $address }. Concorda?
replies-agreed = As respostas aos e-mails de { $organization } são enviadas para { $address }.
replies-stopped = As respostas aos e-mails de { $organization } não são enviadas para { $address }.
replies-agree = Receber as respostas aqui
replies-refuse = Não receber
replies-stop = Deixar de receber respostas

### Invitations

invitation-title = Convite: { $title }
invites-you = Convite de { $organizer }
you-accepted = Presença confirmada.
you-replied-maybe = Sua resposta: talvez.
you-declined = Convite recusado.
reply-recorded = Sua resposta está registrada e pode ser alterada aqui a qualquer momento antes do fim do evento.
reply-changeable = Sua resposta pode ser alterada abaixo.
event-cancelled = Este evento está cancelado.
event-cancelled-text = Não é preciso fazer nada.
event-over = Este evento já terminou.
event-over-text = As respostas estão encerradas.
event-repeats = Este evento é recorrente. Começa nesta data, e sua resposta vale para todas as datas.
reply-not-recorded = Sua resposta não foi registrada.
choose-a-reply = Escolha uma das três respostas.
note-to-organizer = Mensagem para o organizador
accept = Aceitar
maybe = Talvez
decline = Recusar
reply-as = A resposta é dada como { $email }. O organizador vê sua resposta e sua mensagem; os outros convidados, não.

### Instead of a page

no-page = Não há nenhuma página de reservas aqui
no-page-text = O endereço pode estar errado ou incompleto, ou a página pode ter sido removida.
no-page-advice = Peça um novo link a quem o enviou. As reservas existentes não são afetadas.
no-console-page = Não há nenhuma página aqui
no-console-page-text = O endereço pode estar incorreto ou incompleto.
go-to-console = Ir para o console
not-accepted = Não foi possível concluir
not-accepted-text = O formulário pode estar desatualizado ou vir de outra página. Volte, recarregue a página e tente novamente.
other-address = Esta página foi aberta em outro endereço
other-address-text = Abra-a em { $address } e tente novamente.
closed = As reservas estão fechadas por enquanto
closed-text = No momento, não é possível fazer mais reservas. As existentes não são afetadas.
closed-advice = Tente de novo outro dia ou escreva à pessoa com quem deseja falar.
no-booking = Este link não leva a nenhuma reserva
no-booking-text = O link pode estar incompleto, ou a reserva pode ter sido removida. Use o link completo da sua confirmação.
not-moved = Não é possível reagendar esta reserva
not-moved-text = A página em que reservou já não aceita reservas ou está desativada. A sua reserva não é afetada. Pode cancelá-la com o link da sua confirmação.
no-invitation = Este link não leva a nenhum convite
no-invitation-text = O link pode estar incompleto, o evento pode ter sido removido ou o convite pode ter sido retirado.
no-invitation-advice = Use o link completo do e-mail mais recente sobre o evento.
no-reply-link = Este link já não funciona
no-reply-link-text = O link pode estar incompleto, ter sido substituído por um e-mail mais recente ou ter expirado. Nada mudou.
no-reply = Sua resposta não foi registrada
no-reply-text = Abra de novo o link do e-mail e escolha uma das respostas.
too-many = Um momento, por favor
too-many-text = Houve muitos acessos a partir da sua rede em pouco tempo.
too-many-seconds = { $count ->
    [one] Aguarde um segundo e tente de novo. Nada foi alterado.
   *[other] Aguarde { $count } segundos e tente de novo. Nada foi alterado.
}
too-many-minutes = { $count ->
    [one] Aguarde um minuto e tente de novo. Nada foi alterado.
   *[other] Aguarde { $count } minutos e tente de novo. Nada foi alterado.
}
not-offered = Este horário não pode ser reservado
not-offered-text = O link indica um horário que esta página não oferece. Escolha um dos horários disponíveis.
failed = Ocorreu um erro do nosso lado
failed-text = Não foi possível concluir seu pedido. Tente de novo daqui a um minuto.
failed-number = Se acontecer de novo, indique este número ao anfitrião: { $number }
see-free-times = Ver os horários disponíveis

### Emails to guests. Each begins with the greeting, and ends with the signature.

mail-greeting = Olá,
mail-signature = Kalends, o backend de calendário para agentes de IA. O Kalends não lê as respostas.
mail-booking = sua reserva “{ $title }”
mail-booking-with = sua reserva “{ $title }” com { $host }
mail-booked-subject = Sua reserva está confirmada
mail-booked = { $booking } está confirmada para { $when }.
mail-moved-subject = Sua reserva foi reagendada
mail-moved = { $booking } foi reagendada para { $when }.
mail-reminder-subject = Lembrete: { $title }
mail-reminder = { $booking } está marcada para { $when }.
mail-cancelled-subject = Sua reserva está cancelada
mail-cancelled = { $booking } está cancelada. Estava marcada para { $when }. Não é preciso fazer nada.
mail-called-off-subject = Sua reserva foi cancelada
mail-called-off = { $booking } foi cancelada pelo anfitrião. Estava marcada para { $when }.
mail-host-writes = Mensagem do anfitrião:
mail-book-another = Para reservar outro horário:
mail-move = Para escolher outro horário:
mail-cancel = Para cancelar a reserva:
mail-links-are-secret = Qualquer pessoa com estes links pode fazer isso: não encaminhe esta mensagem. Se não fez esta reserva, alguém indicou seu endereço por engano; cancele a reserva ou ignore esta mensagem.
mail-place = Local: { $place }
mail-call = Chamada:
calendar-move = Para escolher outro horário:
